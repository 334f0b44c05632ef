"""The options of every verb that can commit rows to the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..policy.private_data import KINDS

Allow = Annotated[
    list[str] | None,
    typer.Option(help=f"Kind of private data that may stay: {', '.join(KINDS)}; repeatable."),
]
Redact = Annotated[
    bool | None,
    typer.Option("--redact/--no-redact", help="Replace other findings by [kind] in what is sent.", show_default=False),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", help="TOML file that decides what the options leave open.", show_default=False),
]

SOURCE_DATASET_HELP = "Rows' source_dataset, for a table of your own (upstream's is known by its bytes)."
LICENSE_HELP = "Rows' license, for a table of your own: MIT."
