"""The README of a trained model: what it was trained on, under which licence, and what it must not be used for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from ..cards.origins import wording_of
from ..core.places import PREFIX
from ..miti.contract import NOT_STATED
from ..policy.claims import Origins
from .recipe import Recipe


@dataclass(frozen=True)
class DataTerms:
    """Licence and limits that a model inherits from its data."""

    title: str
    hub_id: str | None
    license_id: str | None
    """None: the rows state it themselves."""
    limits: str


TERMS = {
    "kokorochat": DataTerms(
        "KokoroChat",
        "UEC-InabaLab/KokoroChat",
        "cc-by-nc-nd-4.0",
        "Role-played counselling in Japanese; the scores are the client-role players' and follow the rater more than "
        "the counsellor. No commercial use, no distribution of derived data; whether a model is a derivative is "
        "an open question, so keep it private unless you have cleared it.",
    ),
    "emplifai": DataTerms(
        "EmplifAI",
        None,
        "unknown",
        "Crowd-written two-turn dialogues about chronic illness. No public licence is known: do not distribute.",
    ),
    "miti_st_dpo": DataTerms(
        "MITI-ST preference rows",
        None,
        None,
        "Scores come from a judge, which may reward length and hedging; MITI-ST scores giving information low and "
        "does not check facts.",
    ),
}

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
    terms = None if own_rows else TERMS.get(settings.dataset_name)
    name = terms.title if terms else "rows given in memory" if own_rows else settings.dataset_name
    options = f", config `{settings.dataset_config}`, options `{settings.dataset_options}`"
    dataset = name if own_rows else f"`{settings.dataset_name}`{options}"
    header: dict[str, Any] = {"library_name": "peft" if report["adapter"] else "transformers"}
    header["base_model"] = report["base_model"]
    header["tags"] = ["hf-kokoro", "trl", settings.method]
    if hub_ids := [terms.hub_id] if terms and terms.hub_id else _hub_ids(facts["dataset_origins"]):
        header["datasets"] = hub_ids
    license_id = settings.dataset_license or (terms.license_id if terms else None) or _stated_licence(facts)
    if license_id:
        header["license"] = license_id
    parts = [
        "---\n" + yaml.safe_dump(header, sort_keys=False, allow_unicode=True) + "---",
        f"# {recipe.output_dir.name}",
        f"{settings.method.upper()} on {name}, starting from `{report['base_model']}`. {USE}",
        "## Data\n\n" + _data(dataset, terms, license_id, report, facts),
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
    terms: DataTerms | None,
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
    if terms:
        therapists = " A few prolific therapists dominate." if wording_of(stated).writer == "therapist" else ""
        lines.append(f"- limits: {terms.limits}{therapists}")
    return "\n".join(lines)


def _hub_ids(origins: Mapping[str, str | None]) -> list[str]:
    found = (place.removeprefix(PREFIX).partition("@")[0] for place in origins if place.startswith(PREFIX))
    return list(dict.fromkeys(found))


def _stated(facts: Mapping[str, Any]) -> Origins:
    return {tuple(claim): count for *claim, count in facts.get("dataset_claims", ())}


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
