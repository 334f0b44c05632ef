"""`hf-kokoro evaluate`: the papers' metrics and preference accuracy, one module a sub-verb."""

from __future__ import annotations

import typer

from .config_options import PASS_ON
from .evaluate_agreement import agreement
from .evaluate_dialogues import dialogues
from .evaluate_emotion import emotion
from .evaluate_generation import generation
from .evaluate_preference import preference
from .evaluate_scores import scores

app = typer.Typer(help="Measure a model on held-out data.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def evaluate() -> None:
    """Measure a model on held-out data."""


app.command("generation", context_settings=PASS_ON)(generation)
app.command("scores", context_settings=PASS_ON)(scores)
app.command("emotion", context_settings=PASS_ON)(emotion)
app.command("dialogues")(dialogues)
app.command("agreement")(agreement)
app.command("preference")(preference)
