"""MITI-ST preference rows from a published folder or a JSON Lines file.

As a program (writes a folder that plain `datasets.load_dataset` reads; options follow as --name value):
    python loading_scripts/miti_st_dpo.py --source my-dataset --out rows
As a loading script, with `datasets` 2 or 3 (later ones run no scripts; hf_kokoro must be importable):
    datasets.load_dataset("loading_scripts/miti_st_dpo.py", data_dir="my-dataset", trust_remote_code=True)
"""

from __future__ import annotations

import sys

import datasets

if not hasattr(datasets, "List"):
    # datasets 2 and 3 write a list as [feature]
    datasets.List = lambda feature: [feature]

from hf_kokoro.core.archives import open_source
from hf_kokoro.corpora.miti_st.reader import RowReader, warn_of_strays
from hf_kokoro.miti.contract import VERSION
from hf_kokoro.miti.features import ROWS_FEATURES


class MitiStDpo(datasets.GeneratorBasedBuilder):
    """One row a pair, with the score matrix."""

    VERSION = datasets.Version(VERSION)
    BUILDER_CONFIGS = [datasets.BuilderConfig("rows", version=VERSION)]  # noqa: RUF012

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(features=ROWS_FEATURES)

    def _split_generators(self, dl_manager: object) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name="train")]

    def _generate_examples(self):
        reader = RowReader(open_source(self.config.data_dir))
        warn_of_strays(reader.files)
        yield from enumerate(reader.read())
        reader.faults.raise_if_any("MITI-ST rows")


if __name__ == "__main__":
    from hf_kokoro.cli import main

    sys.argv[1:1] = ["build", "miti_st_dpo"]
    main()
