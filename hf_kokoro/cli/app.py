"""The verbs, and how errors become exit codes: 0 done, 1 the work failed, 2 bad usage."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated

import typer

from ..core.disk import reason
from ..errors import KokoroError, UsageError
from .console import print_error, show_logs

VERBS = (
    "quickstart",
    "build",
    "stats",
    "leaks",
    "export",
    "judge",
    "pair",
    "annotate",
    "agree",
    "bias",
    "validate",
    "append",
    "audit",
    "spool",
    "card",
    "publish",
    "train",
    "evaluate",
)
"""Verb to module of the same name: each has a function of that name, or a typer `app` for verbs with sub-verbs."""

app = typer.Typer(
    name="hf-kokoro",
    help="From upstream counselling files to typed datasets, judged pairs, a growing Hub dataset and trained models.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"hf-kokoro {version('hf-kokoro')}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Before any verb: what the workflow logs, and every wait, is to be seen."""
    show_logs()


for _verb in VERBS:
    _module = import_module(f".{_verb}", __package__)
    if hasattr(_module, "app"):
        app.add_typer(_module.app, name=_verb)
    else:
        _settings = getattr(_module, "SETTINGS", None)
        app.command(_verb, context_settings=_settings)(getattr(_module, _verb))


def main() -> None:
    """Run the command line; a KokoroError is printed without a traceback."""
    if not sys.stderr.isatty():
        # the libraries read these when they are imported: progress bars are for terminals
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        # typer itself ends with 0, with 2 for bad usage, with a verb's own typer.Exit, with 130 for Ctrl-C
        app()
    except BrokenPipeError:
        # the reader of our pipe has gone; nothing more can be said
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except UsageError as error:
        print_error(str(error))
        sys.exit(2)
    except KokoroError as error:
        print_error(str(error))
        sys.exit(1)
    except OSError as error:
        if not error.errno:
            raise
        # what no verb has words of its own for
        where = f"{error.filename}: " if error.filename else ""
        print_error(
            f"{where}can't be read or written ({reason(error)}); the same command again starts from what is there"
        )
        sys.exit(1)
