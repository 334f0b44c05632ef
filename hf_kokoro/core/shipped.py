"""Files that come with the package, read where they are needed: importing the readers costs more than the reading."""

from __future__ import annotations

from typing import Any


def shipped_text(package: str | None, name: str) -> str:
    """The text of a file beside the modules of `package` (a module's own `__package__`)."""
    from importlib.resources import files

    return files(package or "").joinpath(name).read_text("utf-8")


def shipped_toml(package: str | None, name: str) -> dict[str, Any]:
    """The content of such a file in TOML."""
    import tomllib

    return tomllib.loads(shipped_text(package, name))
