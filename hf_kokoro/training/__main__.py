"""`python -m hf_kokoro.training dpo --config recipe.yaml [--key value ...]`, for `accelerate launch -m`.

Every process runs this; the main one prints the report as JSON. Exit codes as of `hf-kokoro`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from ..errors import KokoroError, UsageError
from .methods import METHODS
from .overrides import parse_overrides
from .recipe import load_recipe
from .runner import run_recipe


def main(arguments: list[str] | None = None) -> int:
    """Run one recipe; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m hf_kokoro.training",
        description="Run a training recipe.",
        epilog="example: accelerate launch -m hf_kokoro.training dpo --config miti_odpo_qlora",
    )
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--config", required=True, help="a recipe file or the name of a built-in recipe")
    known, rest = parser.parse_known_args(arguments)
    try:
        recipe = load_recipe(known.config, parse_overrides(rest), known.method)
        report = run_recipe(recipe)
    except KokoroError as error:
        print(f"hf_kokoro.training: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    if int(os.environ.get("RANK", "0")) == 0:
        print(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
