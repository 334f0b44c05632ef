"""The README of a trained model: what it was trained on, under which licence, and what it must not be used for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from ..cards.origins import wording_of
from ..core.places import PREFIX
from ..corpora import BUILDERS
from ..corpora.views import About
from ..miti.contract import NOT_STATED
from ..policy.licences import Origins
from .recipe import Recipe

USE = (
    "For research on counselling dialogue. Not for clinical decisions, crisis support or unsupervised agents: "
    "people in need belong with people."
)


def render_model_card(
    recipe: Recipe, report: Mapping[str, Any], facts: Mapping[str, Any], *, own_rows: bool = False
) -> str:
    """Markdown with the Hub's YAML header; `report` is a TrainReport as a dict, `facts` are those of run.json.

    `own_rows` were given in memory: of them nothing is known, whatever dataset the recipe names.
    """
    checks = report["preflight"]["checks"]
    settings = recipe.settings
    builder = None if own_rows else BUILDERS.get(settings.dataset_name)
    about = builder.ABOUT if builder else None
    name = about.pretty_name if about else "rows given in memory" if own_rows else settings.dataset_name
    options = f", config `{settings.dataset_config}`, options `{settings.dataset_options}`"
    dataset = name if own_rows else f"`{settings.dataset_name}`{options}"
    header: dict[str, Any] = {"library_name": "peft" if report["adapter"] else "transformers"}
    header["base_model"] = report["base_model"]
    header["tags"] = ["hf-kokoro", "trl", settings.method]
    of_corpus = [source for source in about.source_datasets if "/" in source] if about else []
    if hub_ids := of_corpus or _hub_ids(facts["dataset_origins"]):
        header["datasets"] = hub_ids
    known = about.license if about and not about.stated_by_rows else None
    license_id = settings.dataset_license or known or _stated_licence(facts)
    if license_id:
        header["license"] = license_id
    parts = [
        "---\n" + yaml.safe_dump(header, sort_keys=False, allow_unicode=True) + "---",
        f"# {recipe.output_dir.name}",
        f"{settings.method.upper()} on {name}, starting from `{report['base_model']}`. {USE}",
        "## Data\n\n" + _data(dataset, about, license_id, report, facts),
        "## Run\n\n" + _run(report, facts["versions"]),
    ]
    if report["after"]:
        parts.append("## Held-out metrics\n\n" + _metrics(report))
    parts.append("## Pre-flight\n\n" + _table(("check", "value"), [(c["name"], c["value"]) for c in checks]))
    parts.append(
        "Resolved recipe: `recipe.yaml`; versions, seeds and data fingerprints: `run.json`; every logged metric: "
        "`metrics.jsonl`."
    )
    return "\n\n".join(parts) + "\n"


def _data(
    dataset: str,
    about: About | None,
    license_id: str | None,
    report: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> str:
    origins, stated = facts["dataset_origins"].items(), _stated(facts)
    lines = [
        f"- rows: {report['train_rows']:,} for training, {report['test_rows']:,} held out",
        f"- dataset: {dataset}",
        *(f"- read from: `{place}`" + (f", digest `{digest}`" if digest else "") for place, digest in origins),
        *(f"- of {count:,} rows: {wording_of({origin: count}).writers}" for origin, count in stated.items()),
        f"- licence of the data: {license_id or NOT_STATED}",
    ]
    if about:
        therapists = " A few prolific therapists dominate." if wording_of(stated).writer == "therapist" else ""
        lines.append(f"- limits: {about.limits}{therapists}")
    return "\n".join(lines)


def _hub_ids(origins: Mapping[str, str | None]) -> list[str]:
    found = (place.removeprefix(PREFIX).partition("@")[0] for place in origins if place.startswith(PREFIX))
    return list(dict.fromkeys(found))


def _stated(facts: Mapping[str, Any]) -> Origins:
    return {(source, licence): count for source, licence, count in facts.get("dataset_claims", ())}


def _stated_licence(facts: Mapping[str, Any]) -> str | None:
    """The Hub id of the licence that all rows state, if they all state one."""
    found = wording_of(_stated(facts)).license_id
    return None if found == "unknown" else found


def _run(report: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    rows = [
        ("optimizer steps", f"{report['steps']:,}"),
        ("epochs", f"{report['epochs']:g}"),
        ("seconds", f"{report['seconds']:.1f}"),
        ("processes", report["processes"]),
        ("trainable parameters", f"{report['trainable_parameters']:,}"),
        ("training loss, first and last logged", f"{report['first_loss']} and {report['last_loss']}"),
        ("seed", report["seed"]),
        ("resumed from", report["resumed_from"] or "not resumed"),
        *versions.items(),
    ]
    return _table(("", "value"), rows)


def _metrics(report: Mapping[str, Any]) -> str:
    before, after = report["before"], report["after"]
    rows = [(name, f"{before[name]:.4f}" if name in before else "-", f"{value:.4f}") for name, value in after.items()]
    return _table(("metric", "before", "after"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])
