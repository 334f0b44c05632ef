"""The options of every verb that can commit rows to the Hub."""

from __future__ import annotations

from typing import Annotated

import typer

from ..policy.private_data import KINDS

Allow = Annotated[
    list[str] | None,
    typer.Option(help=f"Kind of private data that may stay: {', '.join(KINDS)}; repeatable."),
]
Redact = Annotated[bool, typer.Option("--redact", help="Replace other findings by [kind] in what is sent.")]

SOURCE_DATASET_HELP = "Rows' source_dataset, for a table of your own (upstream's is known by its bytes)."
LICENSE_HELP = "Rows' license, for a table of your own: MIT."
