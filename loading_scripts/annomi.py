"""AnnoMI from your own copy of AnnoMI-full.csv (or the same table as XLSX, JSON, ...).

As a program (writes a folder that plain `datasets.load_dataset` reads; options follow as --name value):
    python loading_scripts/annomi.py --source AnnoMI-full.csv --out annomi
As a loading script, with `datasets` 2 or 3 (later ones run no scripts; hf_kokoro must be importable):
    datasets.load_dataset("loading_scripts/annomi.py", data_dir="AnnoMI-full.csv", trust_remote_code=True)
"""

from __future__ import annotations

import sys

import datasets

if not hasattr(datasets, "List"):
    # datasets 2 and 3 write a list as [feature]
    datasets.List = lambda feature: [feature]

from hf_kokoro.core.archives import open_source
from hf_kokoro.corpora.annomi.reader import read_annomi
from hf_kokoro.corpora.annomi.schema import UTTERANCES_FEATURES, VERSION
from hf_kokoro.corpora.annomi.views import utterance_rows


class AnnoMI(datasets.GeneratorBasedBuilder):
    """One row an utterance."""

    VERSION = datasets.Version(VERSION)
    BUILDER_CONFIGS = [datasets.BuilderConfig("utterances", version=VERSION)]  # noqa: RUF012

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(features=UTTERANCES_FEATURES, license="unknown")

    def _split_generators(self, dl_manager: object) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name="train")]

    def _generate_examples(self):
        files = open_source(self.config.data_dir)
        yield from enumerate(utterance_rows(read_annomi(files.members(), files)))


if __name__ == "__main__":
    from hf_kokoro.cli import main

    sys.argv[1:1] = ["build", "annomi"]
    main()
