"""Cards are checked before anything is sent: every problem at once, with a suggestion."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import DatasetCard

from hf_kokoro.cards import CardError, ConfigCard
from hf_kokoro.cards.check import card_problems, raise_problems
from hf_kokoro.cards.check_files import folder_problems
from hf_kokoro.cards.front_matter import configs_metadata, join_card, size_category, split_card
from hf_kokoro.cards.renewing import renew_card
from hf_kokoro.miti.features import pairs_features


def card(yaml_block: str, body: str = "# Title\n") -> bytes:
    return f"---\n{yaml_block}\n---\n{body}".encode()


def said(content: bytes, rows: int | None = None) -> str:
    return "\n".join(map(str, card_problems(content, rows)))


def test_every_problem_is_listed_at_once_with_what_was_meant() -> None:
    content = card(
        "license: CC BY-NC-ND 4.0\nlanguage: [jp]\nsize_categories: ['5000']\ntask_ids: [counseling]\n"
        "task_categories: text-generation"
    )
    found = said(content)
    assert len(card_problems(content)) == 5
    for key, meant in (
        ("license: got 'CC BY-NC-ND 4.0'", "did you mean cc-by-nc-nd-4.0?"),
        ("language: got 'jp'", "did you mean ja?"),
        ("size_categories: got '5000'", "did you mean 1K<n<10K?"),
        ("task_ids: got 'counseling'", "did you mean dialogue-modeling?"),
        ("task_categories: got 'text-generation'; allowed: a list", "write it as [text-generation]"),
    ):
        line = next(line for line in found.splitlines() if line.startswith(key))
        assert meant in line
    with pytest.raises(CardError, match=r"README\.md has 5 problems, nothing was sent"):
        raise_problems(card_problems(content))


@pytest.mark.parametrize(
    ("licence", "meant"),
    [
        ("MIT", "mit"),
        ("MIT License", "mit"),
        ("The MIT License", "mit"),
        ("Apache License, Version 2.0", "apache-2.0"),
        ("apache_2.0", "apache-2.0"),
        ("CC BY-NC-ND 4.0", "cc-by-nc-nd-4.0"),
        ("CC BY 4.0", "cc-by-4.0"),
        ("CC0 1.0", "cc0-1.0"),
        ("GPL-3", "gpl-3.0"),
    ],
)
def test_a_licence_by_its_name_suggests_its_id(licence: str, meant: str) -> None:
    [problem] = card_problems(card(f"license: {licence}"))
    assert str(problem).startswith(f"license: got {licence!r};")
    assert str(problem).endswith(f"did you mean {meant}?")


@pytest.mark.parametrize("size", ["5000", "[5000]", "'5000'", "'5,000'", "[n<1K, 5000]"])
def test_a_number_as_size_tag_suggests_its_bucket(size: str) -> None:
    found = said(card(f"license: mit\nsize_categories: {size}"))
    assert "did you mean 1K<n<10K?" in found
    assert "in quotes" not in found


@pytest.mark.parametrize(
    ("yaml_block", "key", "got"),
    [
        ("language: [en, no]", "language.1", "the truth value false"),
        ("language: [on]", "language.0", "the truth value true"),
        ("configs:\n- config_name: on\n  data_files: a.jsonl", "configs.0.config_name", "the truth value true"),
        ("version: 1.10", "version", "the number 1.1"),
        ("pretty_name: 2024", "pretty_name", "the number 2024"),
        ("tags: [2020-01-01]", "tags.0", "a date"),
        ("tags: [x]\nreleased: 2020-01-01", "released", "a date"),
        ("dataset_info:\n  features:\n  - name: no\n    dtype: string", "dataset_info.features.0.name", "the truth"),
    ],
)
def test_values_that_yaml_turned_into_something_else_are_named(yaml_block: str, key: str, got: str) -> None:
    assert f"{key}: got {got}" in said(card(f"license: mit\n{yaml_block}"))


def test_words_that_yaml_would_turn_come_back_as_the_same_strings() -> None:
    from datasets import ClassLabel, Features

    features = Features({"no": ClassLabel(names=["yes", "no", "on", "1.10", "null", "~"])})
    data = {
        "language": ["no", "en"],
        "version": "1.10",
        "pretty_name": "on",
        "tags": ["yes", "0x1f", "1e3", "2020-01-01"],
    }
    data |= configs_metadata([ConfigCard("on", features, {"no": "data/no*.jsonl"})])
    text = join_card(data, "body\n")
    back, body = split_card(text)
    assert body == "body\n"
    assert back == data
    assert DatasetCard(text).data.to_dict()["language"] == ["no", "en"]
    assert Features._from_yaml_list(back["dataset_info"][0]["features"]) == features
    assert not card_problems(join_card({"license": "mit", **data, "task_ids": []}, "body\n").encode())


@pytest.mark.parametrize(
    ("rows", "tag"),
    [
        *((0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (9999, "1K<n<10K"), (10**4, "10K<n<100K")),
        *((10**6, "1M<n<10M"), (10**9, "1B<n<10B"), (10**12, "n>1T")),
    ],
)
def test_size_tags_are_those_of_the_hub(rows: int, tag: str) -> None:
    assert size_category(rows) == tag


def test_a_size_tag_that_does_not_fit_the_rows_is_a_problem() -> None:
    assert "1K<n<10K, for 1300 rows" in said(card("license: mit\nsize_categories: [n<1K]"), rows=1300)
    assert not card_problems(card("license: mit\nsize_categories: [1K<n<10K]"), rows=1300)


MALFORMED: list[bytes] = [
    b"",
    b"no yaml at all",
    b"\xff\xfe\x00",
    b"---\n---\n# x\n",
    b"---\nlicense: mit\n",
    b"---\n- a\n---\nx",
    b"---\njust text\n---\nx",
    b"---\n5\n---\nx",
    b"---\nlicense: [mit\n---\nx",
    b"---\nlicense: mit\nlicense: mit\n---\nx",
    b"---\n{a: b, c\n---\nx",
    b"---\n\tlicense: mit\n---\nx",
    b"---\nlicense: 'mit\n---\nx",
    b"---\n? [a, b]\n: c\n---\nx",
    b"---\na: &x [*x]\n---\nx",
    b"---\na: !!python/object/apply:os.system [x]\n---\nx",
    b"---\na: !unknown x\n---\nx",
    b"---\nlicense: \x00\n---\nx",
    b"---\n" + b"[" * 2000 + b"\n---\nx",
    b"---\nlicense: mit\n---\n" + b"x" * (10 * 2**20),
    *(
        card(block)
        for block in (
            "license: 5",
            "license: {a: b}",
            "license: null",
            "license: [mit, gpl-9]",
            "license: MIT License",
            "license: mit\nlanguage: {a: b}",
            "license: mit\nlanguage: [xx]",
            "license: mit\nlanguage: [english]",
            "license: mit\nlanguage: [5]",
            "license: mit\nlanguage: ja",
            "license: mit\ntags: dpo",
            "license: mit\ntags: [true]",
            "license: mit\ntags: [1.5]",
            'license: mit\ntags: ["a\\u2028b"]',
            'license: mit\npretty_name: "a\\u2029b"',
            'license: mit\npretty_name: "a\\u0085b"',
            "license: mit\nsize_categories: 1K",
            "license: mit\nsize_categories: [1k<n<10k]",
            "license: mit\nsize_categories: [huge]",
            "license: mit\ntask_categories: [counselling]",
            "license: mit\ntask_ids: [dpo]",
            "license: mit\nannotations_creators: [llm]",
            "license: mit\nlanguage_creators: expert-generated",
            "license: mit\nmultilinguality: [mono]",
            "license: mit\nsource_datasets: original",
            "license: mit\nconfigs: default",
            "license: mit\nconfigs: 5",
            "license: mit\nconfigs: {a: b}",
            "license: mit\nconfigs: [a]",
            "license: mit\nconfigs:\n- data_files: x",
            "license: mit\nconfigs:\n- config_name: a\n  data_files: 5",
            "license: mit\nconfigs:\n- config_name: a\n  data_files: [{split: train}]",
            "license: mit\nconfigs:\n- config_name: a\n  data_files: [{split: a-b c, path: x}]",
            "license: mit\nconfigs:\n- config_name: a\n  data_files: x\n- config_name: a\n  data_files: y",
            "license: mit\ndataset_info: text",
            "license: mit\ndataset_info: [text]",
            "license: mit\ndataset_info:\n  features: text",
            "license: mit\ndataset_info:\n  features:\n  - name: a\n    dtype: no_such_type",
            "license: mit\ndataset_info:\n  features:\n  - dtype: string",
            "license: mit\ndataset_info:\n  features:\n  - name: a\n    dtype:\n      class_label: 5",
            "license: mit\n1: 2\nlicense_name: 1.10",
        )
    ),
    card("license: mit", body=""),
    card("license: mit", body="  \n\n"),
]


def test_there_are_sixty_malformed_cards_or_more() -> None:
    assert len(MALFORMED) >= 60


@pytest.mark.parametrize("content", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_card_gives_its_problems_and_is_refused(content: bytes) -> None:
    problems = card_problems(content)
    assert problems
    assert all(problem.got and problem.allowed and len(str(problem)) < 400 for problem in problems)
    with pytest.raises(CardError, match="nothing was sent"):
        raise_problems(problems)


def test_a_merge_keeps_foreign_keys_configs_and_tags_and_is_stable() -> None:
    generated = {"license": "mit", "tags": ["dpo"], "configs": [{"config_name": "default"}], "dataset_info": []}
    existing = {
        "license": "apache-2.0",
        "x": {"deep": [1, "no"]},
        "tags": ["mine", "dpo"],
        "configs": [{"config_name": "mine"}],
        "dataset_info": {"features": []},
    }
    card = renew_card(join_card(existing, "old\n"), generated, "new\n")
    merged, body = split_card(card)
    assert body == "new\n"
    assert merged["license"] == "mit"
    assert merged["x"] == {"deep": [1, "no"]}
    assert merged["tags"] == ["mine", "dpo"]
    assert merged["configs"] == [{"config_name": "default"}, {"config_name": "mine"}]
    assert merged["dataset_info"] == [{"features": []}]
    assert list(merged) == list(existing)
    assert renew_card(card, generated, "new\n") == card


def test_a_rendered_folder_has_no_problem(repo: Path) -> None:
    assert folder_problems(repo) == []


@pytest.mark.parametrize(
    ("old", "new", "key", "got"),
    [
        ("path: pairs/train.jsonl", "path: pairs/gone*.jsonl", "configs pairs/train", "matches no file"),
        ("path: pairs/train.jsonl", "path: ../secret.jsonl", "configs pairs/train", "a path outside the repo"),
        ("      - name: margin\n        dtype: float32\n", "", "dataset_info pairs/train", "features that differ"),
        (
            "- name: topic\n        dtype: string",
            "- name: topic\n        dtype: int32",
            "dataset_info",
            "features that",
        ),
        (
            "  - config_name: default\n    features:",
            "  - config_name: default\n    splits:\n      - name: train\n        num_examples: 2\n    features:",
            "dataset_info default/train num_examples",
            "got 2",
        ),
    ],
)
def test_a_card_that_does_not_fit_its_files_is_a_problem(repo: Path, old: str, new: str, key: str, got: str) -> None:
    path = repo / "README.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    found = [str(problem) for problem in folder_problems(repo)]
    assert any(problem.startswith(key) and got in problem for problem in found), found


def test_a_folder_without_a_card_says_how_to_make_one(tmp_path: Path) -> None:
    [problem] = folder_problems(tmp_path)
    assert "hf-kokoro card" in str(problem)


def test_features_of_a_config_survive_the_card(repo: Path) -> None:
    from datasets.info import DatasetInfosDict

    infos = DatasetInfosDict.from_dataset_card_data(DatasetCard.load(repo / "README.md").data)
    assert infos["pairs"].features == pairs_features(True)
