"""A rater's list in the forms that people rate in: CSV, XLSX, Label Studio, Argilla, and one offline HTML page.

All of them hold the same items and the same questions (the rubric's), and none says who wrote an answer or how a judge
scored it.
"""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core.shipped import shipped_text
from ..errors import MissingExtraError
from ..miti.contract import DIMENSIONS
from .kit import KitItem
from .rubric import Rubric, load_rubric

COLUMNS = ("item", "question", "answer", *DIMENSIONS, "note")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def codebook(rubric: Rubric | None = None) -> str:
    """The rubric as people read it, in Markdown."""
    rubric = rubric or load_rubric()
    parts = [f"# Codebook, rubric version {rubric.version}", rubric.task.strip()]
    for dimension in rubric.dimensions:
        levels = [f"- **{level}**: {text}" for level, text in sorted(dimension.anchors.items())]
        parts.append(
            "\n".join([f"## {dimension.name}", "", dimension.asks, "", *levels, "", f"In doubt: {dimension.doubt}"])
        )
    for number, example in enumerate(rubric.examples, start=1):
        scores = ", ".join(f"{name} {example.scores[name]}" for name in DIMENSIONS)
        lines = [f"## Example {number}", f"Question: {example.question}", f"Answer: {example.answer}"]
        parts.append("\n\n".join([*lines, f"Scores: {scores}", f"Reason: {example.why}"]))
    parts.append("Nothing here is for clinical decisions. If what you read weighs on you, stop and talk to somebody.")
    return "\n\n".join(parts) + "\n"


def csv_file(items: Iterable[KitItem]) -> bytes:
    """UTF-8 with a byte order mark, for spreadsheets; a text that would be a formula gets a quote in front."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for item in items:
        writer.writerow(
            [item.id, _cell(item.answered.question), _cell(item.answered.answer), *[""] * (len(DIMENSIONS) + 1)]
        )
    return out.getvalue().encode("utf-8-sig")


def xlsx_file(items: Iterable[KitItem]) -> bytes:
    """A workbook with lists of the allowed levels in the cells to fill. Raises MissingExtraError without openpyxl."""
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Alignment
        from openpyxl.utils import get_column_letter
        from openpyxl.worksheet.datavalidation import DataValidation
    except ImportError:
        raise MissingExtraError("openpyxl", "xlsx", "a kit as workbooks") from None
    book = Workbook()
    sheet = book.active
    sheet.append(COLUMNS)
    sheet.freeze_panes = "D2"
    rows = 1
    for item in items:
        sheet.append([item.id, _cell(item.answered.question), _cell(item.answered.answer)])
        rows += 1
        for cell in sheet[rows]:
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for number, (low, high) in enumerate(DIMENSIONS.values(), start=4):
        allowed = ",".join(map(str, range(low, high + 1)))
        rule = DataValidation("list", formula1=f'"{allowed}"', allow_blank=True, showErrorMessage=True)
        rule.add(f"{get_column_letter(number)}2:{get_column_letter(number)}{max(rows, 2)}")
        sheet.add_data_validation(rule)
    sheet.column_dimensions["B"].width = sheet.column_dimensions["C"].width = 70
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def label_studio_tasks(items: Iterable[KitItem]) -> bytes:
    """Tasks for Label Studio's import; `label_studio_config` is the labelling interface."""
    tasks = [{"data": {"item": i.id, "question": i.answered.question, "answer": i.answered.answer}} for i in items]
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def label_studio_config() -> str:
    """The labelling interface: one required choice a dimension."""
    rubric = load_rubric()
    choices = []
    for dimension in rubric.dimensions:
        levels = "".join(
            f'<Choice value="{level}" hint="{html.escape(text)}"/>' for level, text in sorted(dimension.anchors.items())
        )
        header = f'<Header value="{html.escape(f"{dimension.name}: {dimension.asks}")}" size="5"/>'
        choices.append(
            f'{header}<Choices name="{dimension.name}" toName="answer" choice="single" required="true" '
            f'showInline="true">{levels}</Choices>'
        )
    body = "\n".join(choices)
    return (
        f'<View>\n<Text name="question" value="$question"/>\n<Text name="answer" value="$answer"/>\n{body}\n</View>\n'
    )


def argilla_records(items: Iterable[KitItem]) -> bytes:
    """Records for `rg.Dataset.records.log`, one a line: fields `question` and `answer`, the item as id."""
    lines = [
        json.dumps(
            {"id": i.id, "fields": {"question": i.answered.question, "answer": i.answered.answer}}, ensure_ascii=False
        )
        for i in items
    ]
    return ("\n".join(lines) + "\n").encode()


def html_page(rater: str, items: Sequence[KitItem]) -> bytes:
    """One page that opens from a file, asks nothing of any server, and saves the ratings as CSV."""
    rubric = load_rubric()
    data: dict[str, Any] = {
        "rater": rater,
        "columns": ["item", *DIMENSIONS, "note"],
        "kit": hashlib.sha256("".join(item.id for item in items).encode()).hexdigest()[:12],
        "dimensions": [
            {
                "name": d.name,
                "asks": d.asks,
                "doubt": d.doubt,
                "anchors": {str(k): v for k, v in sorted(d.anchors.items())},
            }
            for d in rubric.dimensions
        ],
        "items": [{"id": i.id, "question": i.answered.question, "answer": i.answered.answer} for i in items],
    }
    # in a script element only "</" and "<!--" could end the text early
    plain = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    script, style = shipped_text(__package__, "kit_page.js"), shipped_text(__package__, "kit_page.css")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    page = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Ratings of {html.escape(rater)}</title>",
        f"<style>{style}</style></head><body>",
        '<main id="page"><noscript>This page needs JavaScript; the CSV file beside it does not.</noscript></main>',
        f'<script type="application/json" id="kit">{plain}</script>',
        f"<script>{script}</script></body></html>",
    ]
    return "\n".join(page).encode()


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def write_list(folder: Path, rater: str, items: Sequence[KitItem], *, workbooks: bool) -> list[Path]:
    """Every form of one rater's list into `folder`; gives the files."""
    files = {
        f"{rater}.csv": csv_file(items),
        f"{rater}.html": html_page(rater, items),
        f"{rater}.label-studio.json": label_studio_tasks(items),
        f"{rater}.argilla.jsonl": argilla_records(items),
    }
    if workbooks:
        files[f"{rater}.xlsx"] = xlsx_file(items)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]
