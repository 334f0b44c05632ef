"""What the Hub's API answers: the part of it that the client uses for datasets and for pushing models."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from .store import Blob, Commit, ParentMoved, Repo

if TYPE_CHECKING:
    from .server import HubDouble


@dataclass(frozen=True)
class Request:
    method: str
    path: list[str]
    query: Mapping[str, str]
    host: str
    token: str | None
    range: str | None
    body: bytes
    upload: Path | None
    body_bytes: int


@dataclass
class Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    file: Path | None = None
    start: int = 0
    length: int = 0


def answer(double: HubDouble, request: Request) -> Reply:
    """Carry out one request."""
    with double.store.lock:
        match request.path:
            case ["api", "whoami-v2"]:
                role = double.tokens.get(request.token or "")
                return _json({"name": "user", "auth": {"accessToken": {"role": role}}})
            case ["api", "validate-yaml"]:
                return _json({"errors": [], "warnings": []})
            case ["api", "repos", "create"]:
                return _create(double, request)
            case ["api", "datasets" | "models", user, name, *rest]:
                return _with_repo(double, request, f"{user}/{name}", rest)
            case ["datasets", user, name, "resolve", revision, *path] | [user, name, "resolve", revision, *path]:
                return _with_repo(double, request, f"{user}/{name}", ["resolve", revision, *path])
            case ["datasets", user, name, "info", "lfs", "objects", "batch"] | [
                user,
                name,
                "info",
                "lfs",
                "objects",
                "batch",
            ]:
                return _lfs_batch(double, request, f"{user}/{name.removesuffix('.git')}")
            case ["storage", sha256]:
                return _storage(double, request, sha256)
    return _json({"error": "Not Found"}, 404)


def _with_repo(double: HubDouble, request: Request, repo_id: str, rest: list[str]) -> Reply:
    refused = _access(double, request, repo_id)
    if refused is not None:
        return refused
    repo = double.store.repos[repo_id]
    match [request.method, *rest]:
        case ["GET"]:
            return _info(repo, repo.head(), request)
        case ["GET", "refs"]:
            return _refs(repo)
        case ["POST", "branch", branch]:
            return _branch(repo, branch)
        case ["GET", "discussions", number]:
            return _discussion(repo, int(number))
        case [_, kind, revision, *path]:
            return _at_revision(double, request, repo, (kind, revision, "/".join(path)))
    return _json({"error": "Not Found"}, 404)


def _at_revision(double: HubDouble, request: Request, repo: Repo, asked: tuple[str, str, str]) -> Reply:
    kind, revision, path = asked
    commit = repo.at(revision)
    if commit is None:
        return _missing("RevisionNotFound", f"Invalid rev id: {revision}")
    match [request.method, kind]:
        case ["GET", "revision"]:
            return _info(repo, commit, request)
        case ["GET", "tree"]:
            return _tree(commit, path, request)
        case ["POST", "paths-info"]:
            return _paths_info(commit, request)
        case ["GET", "commits"]:
            return _commits(double, repo, revision, request)
        case ["POST", "preupload"]:
            return _preupload(double, commit, request)
        case ["POST", "commit"]:
            return _commit(double, repo, revision, request)
        case ["GET" | "HEAD", "resolve"]:
            return _resolve(double, commit, path, request)
    return _json({"error": "Not Found"}, 404)


def _access(double: HubDouble, request: Request, repo_id: str) -> Reply | None:
    """The refusal, or None. As on the Hub a repo that is missing and one that is hidden look the same."""
    if request.token is not None and request.token not in double.tokens:
        message = "Invalid credentials in Authorization header"
        return _json({"error": message}, 401, {"X-Error-Message": message})
    role = double.tokens.get(request.token or "")
    repo = double.store.repos.get(repo_id)
    if repo is None or (repo.private and role is None):
        if role is None:
            return _json({"error": "Invalid username or password."}, 401)
        return _missing("RepoNotFound", "Repository not found")
    writes = "/commit/" in f"/{'/'.join(request.path)}/" or "branch" in request.path
    if writes and role != "write" and not (role == "read" and request.query.get("create_pr")):
        return _json({"error": "Forbidden"}, 403, {"X-Error-Message": "you must have write access"})
    return None


def _create(double: HubDouble, request: Request) -> Reply:
    if double.tokens.get(request.token or "") != "write":
        return _json({"error": "Forbidden"}, 403 if request.token else 401)
    wanted = json.loads(request.body)
    repo_id = f"{wanted.get('organization') or 'user'}/{wanted['name']}"
    status = 409 if repo_id in double.store.repos else 200
    if status == 200:
        private = wanted.get("visibility") == "private" or wanted.get("private") is True
        double.store.create(repo_id, private, "datasets/" if wanted.get("type") == "dataset" else "")
    return _json({"url": f"{double.endpoint}/{double.store.repos[repo_id].prefix}{repo_id}", "name": repo_id}, status)


def _info(repo: Repo, commit: Commit, request: Request) -> Reply:
    info: dict[str, Any] = {"_id": "0" * 24, "id": repo.id, "sha": commit.oid}
    if request.query.get("expand") == "private":
        info["private"] = repo.private
    if "expand" not in request.query:
        info |= {
            "private": repo.private,
            "author": repo.id.split("/")[0],
            "lastModified": _date(commit),
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "gated": False,
            "siblings": [{"rfilename": path} for path in commit.tree],
        }
    return _json(info)


def _refs(repo: Repo) -> Reply:
    def named(prefix: str) -> list[dict[str, str]]:
        return [
            {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": oid}
            for ref, oid in repo.refs.items()
            if ref.startswith(prefix)
        ]

    pull_requests = [{**ref, "name": ref["ref"]} for ref in named("refs/pr/")]
    branches = named("refs/heads/")
    return _json({"branches": branches, "tags": [], "converts": [], "pullRequests": pull_requests})


def _branch(repo: Repo, branch: str) -> Reply:
    if f"refs/heads/{branch}" in repo.refs:
        return _json({"error": "Reference already exists"}, 409)
    repo.refs[f"refs/heads/{branch}"] = repo.head().oid
    return _json({})


def _discussion(repo: Repo, number: int) -> Reply:
    request = repo.pull_requests[number - 1]
    author = {"name": "user"}
    return _json(
        {
            "title": request.title,
            "num": number,
            "author": author,
            "createdAt": _date(repo.head()),
            "status": request.status,
            "isPullRequest": True,
            "repo": {"name": repo.id, "type": "dataset"},
            "events": [],
            "changes": {"base": "refs/heads/main"},
            "filesWithConflicts": False,
        }
    )


def _entry(path: str, blob: Blob) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": path, "size": blob.size, "oid": blob.git}
    if blob.lfs:
        entry["lfs"] = {"oid": blob.sha256, "size": blob.size, "pointerSize": 130}
    return entry


def _tree(commit: Commit, folder: str, request: Request) -> Reply:
    prefix = f"{folder}/" if folder else ""
    inside = {path: blob for path, blob in commit.tree.items() if path.startswith(prefix)}
    if not inside:
        return _missing("EntryNotFound", f"{folder} does not exist")
    recursive = request.query.get("recursive") in ("true", "True", "1")
    files = [_entry(p, b) for p, b in inside.items() if recursive or "/" not in p[len(prefix) :]]
    folders = {prefix + p[len(prefix) :].split("/")[0] for p in inside if "/" in p[len(prefix) :]}
    if recursive:
        folders = {"/".join(p.split("/")[: i + 1]) for p in inside for i in range(p.count("/"))} - {folder}
    return _json([{"type": "directory", "path": p, "oid": "0" * 40, "size": 0} for p in sorted(folders)] + files)


def _paths_info(commit: Commit, request: Request) -> Reply:
    paths = parse_qs(request.body.decode())["paths"]
    found: list[dict[str, Any]] = []
    for path in paths:
        if path in commit.tree:
            found.append(_entry(path, commit.tree[path]))
        elif any(p.startswith(f"{path}/") for p in commit.tree):
            found.append({"type": "directory", "path": path, "oid": "0" * 40, "size": 0})
    return _json(found)


_COMMITS_A_PAGE = 50


def _commits(double: HubDouble, repo: Repo, revision: str, request: Request) -> Reply:
    page = int(request.query.get("p", 0))
    log = list(repo.log(revision))
    shown = log[page * _COMMITS_A_PAGE : (page + 1) * _COMMITS_A_PAGE]
    items = [
        {"id": c.oid, "title": c.title, "message": c.message, "date": _date(c), "authors": [{"user": c.author}]}
        for c in shown
    ]
    headers = {}
    if (page + 1) * _COMMITS_A_PAGE < len(log):
        url = f"{double.endpoint}/api/datasets/{repo.id}/commits/{revision.replace('/', '%2F')}?p={page + 1}"
        headers["Link"] = f'<{url}>; rel="next"'
    return _json(items, headers=headers)


def _preupload(double: HubDouble, commit: Commit, request: Request) -> Reply:
    ignore = commit.tree.get(".gitignore")
    ignored = double.store.read(ignore).decode().split() if ignore else []
    files = []
    for wanted in json.loads(request.body)["files"]:
        path = wanted["path"]
        lfs = wanted["size"] >= double.lfs_bytes or path.endswith(".parquet")
        there = commit.tree.get(path)
        file = {"path": path, "uploadMode": "lfs" if lfs else "regular", "shouldIgnore": path in ignored}
        if there is not None:
            file["oid"] = there.sha256 if there.lfs else there.git
        files.append(file)
    return _json({"files": files})


def _commit(double: HubDouble, repo: Repo, revision: str, request: Request) -> Reply:
    header: dict[str, Any] = {}
    blobs: dict[str, Blob | None] = {}
    for line in request.body.splitlines():
        item = json.loads(line)
        value = item["value"]
        match item["key"]:
            case "header":
                header = value
            case "file":
                blobs[value["path"]] = double.store.put(base64.b64decode(value["content"]), lfs=False)
            case "lfsFile":
                if not double.store.has(value["oid"]):
                    return _json({"error": "LFS object was not uploaded"}, 400)
                blobs[value["path"]] = double.store.lfs_blob(value["oid"])
            case "deletedFile":
                blobs[value["path"]] = None
    parent, title = header.get("parentCommit"), header["summary"]
    url = f"{double.endpoint}/{repo.prefix}{repo.id}"
    if request.query.get("create_pr"):
        opened = repo.propose(blobs, parent=parent or repo.head(revision).oid, author="user", title=title)
        oid = repo.refs[f"refs/pr/{opened.number}"]
        pr_url = f"{url}/discussions/{opened.number}"
        return _json({"commitOid": oid, "commitUrl": f"{url}/commit/{oid}", "pullRequestUrl": pr_url})
    try:
        body = header.get("description", "")
        done = repo.apply(blobs, branch=revision, parent=parent, author="user", title=title, message=body)
    except ParentMoved:
        return _json({"error": "A commit has happened since. Please refresh and try again."}, 412)
    return _json({"commitOid": done.oid, "commitUrl": f"{url}/commit/{done.oid}"})


def _lfs_batch(double: HubDouble, request: Request, repo_id: str) -> Reply:
    refused = _access(double, request, repo_id)
    if refused is not None:
        return refused
    objects = []
    for wanted in json.loads(request.body)["objects"]:
        entry: dict[str, Any] = {"oid": wanted["oid"], "size": wanted["size"]}
        if not double.store.has(wanted["oid"]):
            entry["actions"] = {"upload": {"href": f"{double.storage}/storage/{wanted['oid']}"}}
        objects.append(entry)
    return _json({"transfer": "basic", "objects": objects})


def _storage(double: HubDouble, request: Request, sha256: str) -> Reply:
    if request.method == "PUT":
        assert request.upload is not None
        request.upload.replace(double.store.file(sha256))
        return _json({})
    return _file(double.store.file(sha256), sha256, request)


def _resolve(double: HubDouble, commit: Commit, path: str, request: Request) -> Reply:
    blob = commit.tree.get(path)
    if blob is None:
        return _missing("EntryNotFound", "Entry not found", {"X-Repo-Commit": commit.oid})
    headers = {"X-Repo-Commit": commit.oid, "ETag": f'"{blob.git}"', "Accept-Ranges": "bytes"}
    if blob.lfs:
        headers |= {
            "X-Linked-Etag": f'"{blob.sha256}"',
            "X-Linked-Size": str(blob.size),
            "Location": f"{double.storage}/storage/{blob.sha256}",
        }
        return Reply(302, b"", headers)
    return _file(double.store.file(blob.sha256), blob.git, request, headers)


def _file(file: Path, etag: str, request: Request, headers: Mapping[str, str] | None = None) -> Reply:
    size = file.stat().st_size
    given = {"ETag": f'"{etag}"', "Content-Type": "application/octet-stream", **(headers or {})}
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", request.range or "")
    if not match:
        return Reply(200, headers=given, file=file, length=size)
    start, end = int(match[1]), min(int(match[2] or size - 1), size - 1)
    if start >= size:
        return Reply(416, headers={**given, "Content-Range": f"bytes */{size}"})
    given["Content-Range"] = f"bytes {start}-{end}/{size}"
    return Reply(206, headers=given, file=file, start=start, length=end - start + 1)


def _date(commit: Commit) -> str:
    return commit.date.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(value).encode(), dict(headers or {}))


def _missing(code: str, message: str, headers: Mapping[str, str] | None = None) -> Reply:
    return _json({"error": message}, 404, {"X-Error-Code": code, "X-Error-Message": message, **(headers or {})})
