"""KokoroChat's dialogues, typed, from your own copy of its files (folder or archive).

As a program (writes a folder that plain `datasets.load_dataset` reads; options follow as --name value):
    python loading_scripts/kokorochat.py --source kokorochat.tar.gz --out kokorochat
As a loading script, with `datasets` 2 or 3 (later ones run no scripts; hf_kokoro must be importable):
    datasets.load_dataset("loading_scripts/kokorochat.py", data_dir="kokorochat.tar.gz", trust_remote_code=True)
"""

from __future__ import annotations

import sys
from datetime import datetime

import datasets

if not hasattr(datasets, "List"):
    # datasets 2 and 3 write a list as [feature]
    datasets.List = lambda feature: [feature]

from hf_kokoro.core.archives import open_source
from hf_kokoro.corpora.kokorochat.reader import DialogueReader
from hf_kokoro.corpora.kokorochat.schema import DIALOGUES_FEATURES, FLAG_NAMES, ITEM_NAMES, VERSION

PLAIN = ("dialogue_id", "client_id", "counselor_id", "score", "item_sum", "topic", "topic_sub")


class KokoroChat(datasets.GeneratorBasedBuilder):
    """One row a dialogue."""

    VERSION = datasets.Version(VERSION)
    BUILDER_CONFIGS = [datasets.BuilderConfig("dialogues", version=VERSION)]  # noqa: RUF012

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(features=DIALOGUES_FEATURES, license="cc-by-nc-nd-4.0")

    def _split_generators(self, dl_manager: object) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name="train")]

    def _generate_examples(self):
        reader = DialogueReader(open_source(self.config.data_dir))
        for key, found in enumerate(reader.read()):
            spoken = zip(found.roles, map(datetime.fromisoformat, found.times), found.texts, strict=True)
            yield (
                key,
                {
                    **{name: getattr(found, name) for name in PLAIN},
                    "created_at": datetime.fromisoformat(found.created_at),
                    "items": dict(zip(ITEM_NAMES, found.items, strict=True)),
                    "screening": dict(zip(FLAG_NAMES, found.screening, strict=True)),
                    "utterances": [{"role": role, "time": time, "text": text} for role, time, text in spoken],
                },
            )
        reader.faults.raise_if_any("KokoroChat")


if __name__ == "__main__":
    from hf_kokoro.cli import main

    sys.argv[1:1] = ["build", "kokorochat"]
    main()
