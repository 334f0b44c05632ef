"""The `hf-kokoro` command: one module per verb, joined here.

Verb modules import only typer and `.console` at the top; everything heavy is imported inside the
command, so that `--help` answers at once.
"""

from __future__ import annotations

from .app import app, main

__all__ = ["app", "main"]
