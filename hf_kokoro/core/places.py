"""What a user typed as a place: a local path, or a dataset repo on the Hub. Targets and sources are read alike here.

An address (`scheme://…`) never names a local path, so a mistyped one can't become a folder. Messages show an address
without user name, token, query and fragment.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..errors import UsageError
from .secrets import looks_like_token, masked

PREFIX = "hf://datasets/"
ALLOWED = "./folder, user/repo, user/repo@branch, hf://datasets/user/repo[@branch] or the repo's web address"

# one letter before the colon is a drive
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/(?P<rest>.*)\Z", re.DOTALL)
_EXPLICIT = re.compile(r"(?:\.{1,2}(?:[/\\]|\Z)|~|[A-Za-z]:[/\\])")
_ID_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
_NO_USERS = ("datasets", "models", "spaces")
"""First parts of web addresses, which can be nobody's name on the Hub."""
_HUB_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co", "www.hf.co")
_NOT_IN_BRANCHES = re.compile(r"[\x00-\x20\x7f~^:?*\[\\@]|\.\.|//|\A[/.-]|[/.]\Z|\.lock\Z")


@dataclass(frozen=True)
class HubRepo:
    """A dataset repo on the Hub; `branch` (or tag, commit, `refs/pr/3`) is None if the text named none."""

    repo_id: str
    branch: str | None = None

    def __str__(self) -> str:
        return PREFIX + self.repo_id + (f"@{self.branch}" if self.branch else "")


class UnknownPlace(UsageError):
    """Text without a scheme that is neither there as a path nor a repo id."""


def read_place(given: str | PathLike[str], what: str = "target") -> Path | HubRepo:
    """The path (with `~` expanded; it may not exist yet) or the Hub repo that `given` means; `what` is for messages.

    A PathLike is a path, and so is text that is one on this disk. A path that is not there yet has to begin with `./`,
    `../`, `/`, `~` or a drive letter. Raises UsageError for other addresses and for ids that the Hub refuses;
    UnknownPlace, which is one, for a bare name.
    """
    if not isinstance(given, str):
        return Path(given).expanduser()
    address = _ADDRESS.match(given)
    if address is None:
        return _path(given, what) or _bare_id(given, what)
    if address["scheme"].lower() == "hf" and address["rest"].startswith("/"):
        return _hf_address(given, address["rest"][1:], what)
    if address["scheme"].lower() in ("http", "https") and address["rest"].startswith("/"):
        return _web_address(given, what)
    raise _refused(given, what, f"which is no place for datasets here{_nearest(address['rest'])}")


def one_branch(first: str | None, second: str | None, word: str = "branch") -> str | None:
    """The branch that is given in a text, as an option, or equally in both. Raises UsageError if they differ."""
    if first and second is not None and first != second:
        raise UsageError(f"two of {word}: {masked(first)!r} in the text and {masked(second)!r} beside it; give one")
    chosen = first or second
    if chosen and (fault := _branch_fault(chosen)):
        raise UsageError(f"{word} {masked(chosen)!r}: {fault}")
    return chosen


def _branch_fault(branch: str) -> str:
    """What is wrong with the name of a branch, tag or commit; "" if it may be one."""
    if looks_like_token(branch):
        return "it looks like a token, and no branch; log in with: hf auth login"
    if not branch or _NOT_IN_BRANCHES.search(branch):
        return "no branch name"
    if branch.startswith("main/"):
        return f"no branch name, for main is one; is {_clean(branch[5:])!r} meant inside it? give the repo alone"
    return ""


def shown(text: str) -> str:
    """An address or id as messages may show it: no user name, token, query or fragment."""
    address = _ADDRESS.match(text)
    head, rest = (f"{address['scheme']}:/", address["rest"]) if address else ("", text)
    if address:
        rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    # a password may hold any character, so everything before its @ goes
    rest = re.sub(r"\A(/*)(?:[^/@]*:.*@|[^/@]*@(?=[^/]*/))", r"\1", rest, flags=re.DOTALL)
    return repr(masked(head + rest))


def _path(text: str, what: str) -> Path | None:
    if not text.strip() or "\0" in text:
        raise UsageError(f"{what}: got {'nothing' if not text.strip() else 'text with a NUL'}; allowed: {ALLOWED}")
    expanded = os.path.expanduser(text)
    if os.path.lexists(expanded) or os.path.isabs(expanded):
        return Path(expanded)
    if expanded.startswith("~"):
        raise UsageError(f"{what} {shown(text)}: there is no such home folder; allowed: {ALLOWED}")
    return Path(expanded) if _EXPLICIT.match(expanded) else None


def _bare_id(text: str, what: str) -> HubRepo:
    """`user/repo` or `user/repo@branch`."""
    repo_id, at, branch = text.partition("@")
    parts = repo_id.split("/")
    if len(parts) == 2 and all(parts) and parts[0] not in _NO_USERS:
        return _repo(text, what, repo_id, unquote(branch) if at else None, f"./{text}")
    if len(parts) == 3 and parts[0] == "datasets" and _is_id("/".join(parts[1:])):
        raise UsageError(
            f"{what} {shown(text)}: got a path that is not there, or half an address; write "
            f"hf://{_clean(text)} for the Hub's repo, ./{_clean(text)} for a folder"
        )
    if parts[0].lower() in (*_HUB_HOSTS, "hf:"):
        raise UsageError(
            f"{what} {shown(text)}: got an address without https://{_nearest('/' + text)}; allowed: {ALLOWED}"
        )
    raise UnknownPlace(
        f"{what} {shown(text)}: nothing there, and no repo id; for a new folder write ./{_clean(text)}; "
        f"allowed: {ALLOWED}"
    )


def _hf_address(text: str, rest: str, what: str) -> HubRepo:
    name, at, branch = rest.partition("@")
    parts = name.strip("/").split("/")
    if parts[0] != "datasets" or len(parts) != 3:
        near = f"; did you mean {PREFIX}{name.strip('/')}?" if _is_id(name.strip("/")) else ""
        more = "a file or folder inside a repo" if parts[0] == "datasets" and len(parts) > 3 else "no dataset repo"
        raise _refused(text, what, f"which is {more}{near or _nearest(name)}")
    repo_id = "/".join(parts[1:])
    if not at:
        return _repo(text, what, repo_id, None)
    # as in a web address: a slash within a branch is %2F, and what follows a plain one is inside the repo
    written = branch.rstrip("/").split("/")
    size = 3 if written[0] == "refs" and len(written) > 2 else 1
    if inside := "/".join(written[size:]):
        place = _clean(str(HubRepo(repo_id, "/".join(written[:size]))))
        raise _refused(text, what, f"which is {_clean(inside)!r} inside a repo; give the repo: {place}")
    return _repo(text, what, repo_id, unquote("/".join(written)))


def _web_address(text: str, what: str) -> HubRepo:
    try:
        url = urlsplit(text)
        host, port = (url.hostname or "").lower(), url.port
    except ValueError:
        raise _refused(text, what, "which is no web address") from None
    if url.username is not None or url.password is not None:
        raise _refused(text, what, "with a user name or token in it; leave those out and log in with: hf auth login")
    path = url.path
    if host not in _HUB_HOSTS:
        ours = urlsplit(_endpoint())
        if (host, port) != ((ours.hostname or "").lower(), ours.port) or not path.startswith(ours.path.rstrip("/")):
            raise _refused(text, what, f"which is not on the Hub{_nearest(path)}")
        path = path[len(ours.path.rstrip("/")) :]
    parts = [part for part in path.split("/") if part]
    if parts[:1] != ["datasets"]:
        kind = "a Space" if parts[:1] == ["spaces"] else "a model or another page"
        raise _refused(text, what, f"which is {kind} of the Hub, and no dataset{_nearest(path)}")
    if len(parts) < 3:
        raise _refused(text, what, "which names no repo")
    repo = _repo(text, what, "/".join(parts[1:3]), None)
    return repo if len(parts) == 3 else _page(text, what, repo.repo_id, parts[3], [unquote(p) for p in parts[4:]])


def _page(text: str, what: str, repo_id: str, page: str, rest: list[str]) -> HubRepo:
    """A page of a repo: its tree at a branch is the branch, any other page is refused by its name."""
    # a branch is one part, with %2F for each of its slashes; only refs/… are also written plainly
    size = 3 if rest[:1] == ["refs"] and len(rest) > 2 else 1
    branch, inside = "/".join(rest[:size]), "/".join(rest[size:])
    if page == "tree" and branch and not inside:
        return _repo(text, what, repo_id, branch)
    at_branch = page in ("tree", "blob", "resolve", "raw") and branch
    instead = _clean(str(HubRepo(repo_id, branch if at_branch and branch != "main" else None)))
    if at_branch and inside:
        kind = f"the {'folder' if page == 'tree' else 'file'} {_clean(inside)!r} inside a repo"
    else:
        kind = f"the page {_clean(page)!r} of a repo"
    raise _refused(text, what, f"which is {kind}; give the repo: {instead}")


def _repo(text: str, what: str, repo_id: str, branch: str | None, folder: str = "") -> HubRepo:
    if not _is_id(repo_id):
        near = f"; for a folder write {_clean(folder)}" if folder else ""
        near = f"; did you mean {repo_id.removesuffix('.git')}?" if _is_id(repo_id.removesuffix(".git")) else near
        raise UsageError(
            f"{what} {shown(text)}: no repo id of the Hub; allowed: user/repo, each of letters, digits, - _ . (none of "
            f"them twice in a row but _, none of - . at an end, no .git){near}"
        )
    if branch is not None and (fault := _branch_fault(branch)):
        raise UsageError(f"{what} {shown(text)}: after @: {fault}; write {repo_id} or {repo_id}@branch")
    return HubRepo(repo_id, branch)


def _is_id(repo_id: str) -> bool:
    """Whether the Hub takes this as user/repo."""
    parts = repo_id.split("/")
    if len(parts) != 2 or parts[0] in _NO_USERS or not all(_ID_PART.match(part) for part in parts):
        return False
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        validate_repo_id(repo_id)
    except HFValidationError:
        return False
    return True


def _endpoint() -> str:
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def _nearest(rest: str) -> str:
    """The Hub repo that was probably meant: what follows `datasets/`, or a plain id at the end."""
    parts = [part for part in re.split(r"[?#@]", rest, maxsplit=1)[0].split("/") if part]
    if "datasets" in parts:
        parts = parts[parts.index("datasets") + 1 :][:2]
    repo_id = "/".join(parts)
    return f"; did you mean {PREFIX}{repo_id}?" if _is_id(repo_id) and not looks_like_token(repo_id) else ""


def _clean(text: str) -> str:
    return shown(text)[1:-1]


def _refused(text: str, what: str, why: str) -> UsageError:
    return UsageError(f"{what}: got {shown(text)}, {why}; allowed: {ALLOWED}")
