"""EmplifAI from the tables that its authors hand a user (CSV, XLSX, JSON, ...).

As a program (writes a folder that plain `datasets.load_dataset` reads; options follow as --name value):
    python loading_scripts/emplifai.py --source emplifai.csv --out emplifai
As a loading script, with `datasets` 2 or 3 (later ones run no scripts; hf_kokoro must be importable):
    datasets.load_dataset("loading_scripts/emplifai.py", data_dir="emplifai.csv", trust_remote_code=True)
"""

from __future__ import annotations

import sys

import datasets

if not hasattr(datasets, "List"):
    # datasets 2 and 3 write a list as [feature]
    datasets.List = lambda feature: [feature]

from hf_kokoro.core.archives import open_source
from hf_kokoro.corpora.emplifai.reader import read_emplifai
from hf_kokoro.corpora.emplifai.schema import DIALOGUES_FEATURES, VERSION


class EmplifAI(datasets.GeneratorBasedBuilder):
    """One row a dialogue."""

    VERSION = datasets.Version(VERSION)
    BUILDER_CONFIGS = [datasets.BuilderConfig("dialogues", version=VERSION)]  # noqa: RUF012

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(features=DIALOGUES_FEATURES, license="unknown")

    def _split_generators(self, dl_manager: object) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name="train")]

    def _generate_examples(self):
        files = open_source(self.config.data_dir)
        yield from enumerate(read_emplifai(files.members(), source=files))


if __name__ == "__main__":
    from hf_kokoro.cli import main

    sys.argv[1:1] = ["build", "emplifai"]
    main()
