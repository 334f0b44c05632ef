"""What the verbs that may wait for the Hub share."""

from __future__ import annotations

from typing import Annotated

import typer

MaxWait = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Seconds to wait for the Hub (or another process) in all, before giving up (default: 1800).",
        show_default=False,
    ),
]
