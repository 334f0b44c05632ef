"""Reports: plain data, lines for people, an escaped table for notebooks."""

from __future__ import annotations

from dataclasses import dataclass, field

from hf_kokoro.core.reports import Report


@dataclass(frozen=True)
class Found(Report):
    where: str
    rows_total: int = 3
    share: float = 1 / 3
    splits: dict[str, int] = field(default_factory=lambda: {"train": 2, "test": 1})
    reports: tuple[dict[str, int], ...] = ({"a": 1}, {"a": 2})
    url: str | None = None


def test_a_report_reads_line_by_line() -> None:
    assert str(Found("here")).splitlines() == [
        "Found",
        "  where: here",
        "  rows total: 3",
        "  share: 0.3333",
        "  splits: train 2, test 1",
        "  reports: 2 entries",
        "  url: -",
    ]


def test_a_notebooks_table_is_escaped_and_small() -> None:
    html = Found("<script>alert('x')</script>" + "long " * 1000)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert len(html) < 2000


def test_plain_data_has_everything() -> None:
    assert Found("x" * 1000).as_dict()["where"] == "x" * 1000
