"""`manifest.json`: size, sha256 and rows of every data file, for whoever copies a dataset without its history."""

from __future__ import annotations

import hashlib
import json

from ..core.jsonl import CHUNK
from .growth import Growth


def grown_manifest(growth: Growth, manifest: bytes) -> bytes:
    """The manifest with the entries of the grown files renewed; other entries and keys stay.

    A manifest that isn't a JSON object with `files` is somebody else's and stays as it is.
    """
    try:
        content = json.loads(manifest)
        files = content["files"]
    except (ValueError, KeyError, TypeError):
        return manifest
    if not isinstance(files, dict):
        return manifest
    for path, tail in growth.tails.items():
        files[path] = {"size": growth.sizes[path], "sha256": _digest(growth, path, tail), "rows": growth.rows[path]}
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()


def _digest(growth: Growth, path: str, tail: bytes) -> str:
    digest = hashlib.sha256()
    if path in growth.local:
        with growth.local[path].open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    digest.update(tail)
    return digest.hexdigest()
