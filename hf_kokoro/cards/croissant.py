"""A repo's Croissant description (JSON-LD): files, record sets and the responsible-AI fields.

Croissant 1.0 and its RAI vocabulary 1.0 (mlcommons.org/croissant). The repo itself is the file object `repo`:
on the Hub it is fetched with git, for a local folder a reader maps it (`Dataset(..., mapping={"repo": folder})`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from datasets import List, Value

from ..errors import MissingExtraError
from ..miti.contract import NOT_STATED, VERSION
from .facts import MitiFacts
from .front_matter import CardError, ConfigCard
from .origins import Wording, wording_of

CROISSANT_PATH = "croissant.json"

_NO_DIGEST = "https://github.com/mlcommons/croissant/issues/80"
"""What Croissant files of the Hub state in the place of a digest: a git repo has none."""

_LICENCE_PAGE = "https://spdx.org/licenses/{}.html"
_CITE_AS = "Bertagnolli, N. (2020). Counsel Chat: Bootstrapping High-Quality Therapy Data."

_CROISSANT_TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _CROISSANT_TERMS.split()},
}
_TYPES = {"string": "sc:Text", "bool": "sc:Boolean"}


def render_croissant(facts: MitiFacts, configs: Sequence[ConfigCard], repo: str, published: str) -> str:
    """The JSON-LD text; `published` is the date of the rows (ISO), `repo` a Hub id or a local name."""
    wording = wording_of(facts.origins)
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": "-".join(wording.title.lower().split()),
        "description": f"Preference pairs of answers to questions, scored on MITI-ST v1. {wording.writers}",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "license": _licences(wording),
        "url": f"https://huggingface.co/datasets/{repo}",
        "version": VERSION,
        "datePublished": published,
        **({"citeAs": _CITE_AS} if wording.citation else {}),
        "creator": {"@type": "sc:Organization", "name": "The hf-kokoro authors"},
        "isLiveDataset": True,
        **_responsible_ai(facts, wording),
        "distribution": [_repo_object(repo), *map(_file_set, configs)],
        "recordSet": [_record_set(config) for config in configs],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _licences(wording: Wording) -> str | list[str]:
    pages = [_LICENCE_PAGE.format(name) for name in wording.licences if name != NOT_STATED]
    return pages if len(pages) > 1 else next(iter(pages), NOT_STATED)


def check_croissant(text: str) -> None:
    """Validate with mlcroissant. Raises CardError with its findings, MissingExtraError without the library."""
    try:
        import mlcroissant
    except ImportError:
        raise MissingExtraError("mlcroissant", "croissant", "checking croissant.json") from None
    with TemporaryDirectory() as folder:
        file = Path(folder) / CROISSANT_PATH
        file.write_text(text, "utf-8")
        try:
            mlcroissant.Dataset(jsonld=file)
        except mlcroissant.ValidationError as error:
            raise CardError(f"{CROISSANT_PATH} is not valid Croissant:\n{error}") from None


def _responsible_ai(facts: MitiFacts, wording: Wording) -> dict[str, Any]:
    judges = [f"{judge} ({count} rows)" for judge, count in facts.judges.most_common()]
    return {
        "rai:dataCollection": wording.writers,
        **({"rai:dataCollectionType": "Web Scraping"} if wording.writer == "therapist" else {}),
        "rai:dataAnnotationProtocol": "Every answer was scored alone on the five dimensions of MITI-ST v1 by a judge.",
        "rai:machineAnnotationTools": judges,
        "rai:annotationsPerItem": "1",
        "rai:dataUseCases": [
            "Preference optimisation and reward models.",
            "Studies of motivational-interviewing style.",
            "Not for clinical decisions, crisis response or agents that counsel people without supervision.",
        ],
        "rai:dataLimitations": [
            "A single answer is no conversation; facts are not scored; giving information is penalised.",
        ],
        "rai:dataBiases": [
            f"The most frequent {wording.writer} holds {100 * facts.share('chosen', 1):.0f} % of the chosen sides.",
            f"Chosen is the longer side in {100 * facts.chosen_longer / max(facts.rows, 1):.0f} % of the pairs.",
            "One judge scores, with its own surface biases.",
        ],
        "rai:personalSensitiveInformation": [
            "Questions may describe mental health. The names of those who answered are part of the rows.",
        ],
        "rai:dataReleaseMaintenancePlan": "The data file only grows; no published line is changed.",
    }


def _repo_object(repo: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": "repo",
        "name": "repo",
        "contentUrl": f"https://huggingface.co/datasets/{repo}/tree/main",
        "encodingFormat": "git+https",
        "sha256": _NO_DIGEST,
    }


def _file_set(config: ConfigCard) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"files-{config.name}",
        "name": f"files-{config.name}",
        "containedIn": {"@id": "repo"},
        "encodingFormat": "application/jsonlines",
        "includes": [pattern for found in config.data_files.values() for pattern in _patterns(found)],
    }


def _patterns(found: str | Sequence[str]) -> Sequence[str]:
    return [found] if isinstance(found, str) else found


def _record_set(config: ConfigCard) -> dict[str, Any]:
    fields = [field for name, feature in config.features.items() for field in _fields(config.name, name, feature)]
    return {"@type": "cr:RecordSet", "@id": config.name, "name": config.name, "field": fields}


def _fields(config: str, name: str, feature: Any) -> Iterator[dict[str, Any]]:
    """One field a column; a list of objects gives one repeated field for each of their keys."""
    if isinstance(feature, List) and isinstance(feature.feature, dict):
        for key, inner in feature.feature.items():
            # mlcroissant reads list items through JSON paths
            field = _field(config, f"{name}/{key}", name, inner)
            field["repeated"] = True
            field["source"]["transform"] = {"jsonPath": f"$[*].{key}"}
            yield field
    else:
        yield _field(config, name, name, feature)


def _field(config: str, name: str, column: str, feature: Any) -> dict[str, Any]:
    kind = feature.dtype if isinstance(feature, Value) else "string"
    number = "sc:Float" if kind.startswith("float") else "sc:Integer"
    return {
        "@type": "cr:Field",
        "@id": f"{config}/{name}",
        "name": name,
        "dataType": _TYPES.get(kind, number),
        "source": {"fileSet": {"@id": f"files-{config}"}, "extract": {"column": column}},
    }
