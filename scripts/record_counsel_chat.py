"""Write the lists of answer digests that claims rest on, from files of counsel-chat that you have.

    python scripts/record_counsel_chat.py FOLDER [--commit SHA]    # FOLDER holds upstream's CSV files
    python scripts/record_counsel_chat.py FOLDER --check           # write nothing; exit 1 if a list would change

Every CSV of the folder becomes `hf_kokoro/policy/known_answers/<name>.digests`, and the package's own sample one more.
The lists hold digests and facts of the file, no text. Run it again when upstream publishes another edition.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import sys
from pathlib import Path

from hf_kokoro.miti.contract import LICENSE, SAMPLE_DATASET, SOURCE_DATASET
from hf_kokoro.policy.known import edition_file

PACKAGE = Path(__file__).resolve().parent.parent / "hf_kokoro"
LISTS = PACKAGE / "policy" / "known_answers"
COMMIT = "e202e19c5002482f4f6631af754c276dd9adf7f2"
"""Of github.com/nbertagnolli/counsel-chat, 2023-06-17: its `data/` holds both editions."""


def digests_of(file: Path, source: str, written_by: str, commit: str) -> bytes:
    """The list of one CSV file, column `answerText`."""
    content = file.read_bytes()
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    texts = [row["answerText"] for row in rows]
    return edition_file(
        texts,
        name=file.name,
        source_dataset=source,
        license=LICENSE,
        written_by=written_by,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        commit=commit,
    )


def main() -> None:
    """Write the lists, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--commit", default=COMMIT, help="upstream's commit that the files are of")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a list would change")
    given = parser.parse_args()
    csv.field_size_limit(1 << 30)
    made = {file.stem: digests_of(file, SOURCE_DATASET, "people", given.commit) for file in given.folder.glob("*.csv")}
    if not made:
        sys.exit(f"{given.folder}: no CSV file")
    made["hf_kokoro_sample"] = digests_of(PACKAGE / "samples" / "counsel_chat.csv", SAMPLE_DATASET, "fictional", "")
    changed = False
    for name, content in sorted(made.items()):
        file = LISTS / f"{name}.digests"
        same = file.is_file() and file.read_bytes() == content
        changed |= not same
        if not same and not given.check:
            LISTS.mkdir(exist_ok=True)
            file.write_bytes(content)
        print(f"{file.name}: {len(content)} bytes, {'as it was' if same else 'changed' if given.check else 'written'}")
    sys.exit(1 if changed and given.check else 0)


if __name__ == "__main__":
    main()
