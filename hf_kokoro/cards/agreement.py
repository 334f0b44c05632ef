"""Agreement of judges in a card: a table from what `hf-kokoro agree --json` reported, kept from card to card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.stats import Estimate
from .front_matter import CardError
from .markdown import as_code, as_text

NOT_MEASURED = (
    "Not measured for this card. `hf-kokoro agree` compares the journals of two judges, and "
    "`hf-kokoro card --agreement` puts its report here."
)


def read_agreement(file: Path) -> str:
    """Markdown of a report of `hf-kokoro agree --json`. Raises CardError for any other file."""
    try:
        agreements = json.loads(file.read_text("utf-8"))["agreements"]
        tables = [_table(agreement) for agreement in agreements]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CardError(
            f"{file.name}: not a report of `hf-kokoro agree --json` ({type(error).__name__}); make it with: "
            "hf-kokoro agree JOURNAL JOURNAL --json"
        ) from None
    if not tables:
        raise CardError(f"{file.name}: the report compares no two judges; give the journals of two")
    return "\n\n".join(tables)


def _table(agreement: Mapping[str, Any]) -> str:
    lines = [
        f"{as_code(agreement['first'])} against {as_code(agreement['second'])}, "
        f"{agreement['answers']:,} answers that both scored:",
        "",
        "| dimension | exact | within 1 | difference | kappa (quadratic) | AC1 | alpha (ordinal) |",
        "|---|---|---|---|---|---|---|",
    ]
    for found in agreement["dimensions"]:
        shares = " | ".join(f"{100 * found[name]['value']:.0f} %" for name in ("exact", "within_1"))
        numbers = " | ".join(_number(found[name]) for name in ("difference", "kappa", "ac1", "alpha"))
        lines.append(f"| {as_text(found['dimension'])} | {shares} | {numbers} |")
    pairs = agreement["pairs"]
    lines += [
        "",
        "With 95 % intervals from resampling whole questions; the difference is the mean of second minus first.",
        "",
        f"Of {pairs['pairs']:,} best-worst pairs of the first judge {pairs['keep']:,} keep their direction with the "
        f"second, {pairs['flip']:,} flip and {pairs['lose']:,} are lost to a tie.",
    ]
    return "\n".join(lines)


def _number(found: Mapping[str, Any]) -> str:
    return "not defined" if found["value"] is None else str(Estimate(**found))
