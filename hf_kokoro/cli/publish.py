"""`hf-kokoro publish`: send a dataset folder to the Hub, after everything was checked here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .console import interruptible, print_json
from .gate_options import Allow, PolicyFile, Redact
from .wait_options import MaxWait


def publish(
    folder: Annotated[Path, typer.Argument(help="Folder that `append`, `quickstart` or `build` made.")],
    to: Annotated[str, typer.Option("--to", help="user/repo[@branch], a Hub address or ./folder.")],
    public: Annotated[bool, typer.Option("--public", help="Make a new repo public (default: private).")] = False,
    private: Annotated[bool, typer.Option("--private", help="Say that the repo is to be private.")] = False,
    i_hold_the_licence: Annotated[
        bool,
        typer.Option(
            "--i-hold-the-licence",
            help="With --private: I hold a licence for sources that may not be published.",
        ),
    ] = False,
    allow: Allow = None,
    redact: Redact = None,
    policy: PolicyFile = None,
    figures: Annotated[bool, typer.Option(help="Draw the figures too (needs the extra 'plots').")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything and send nothing.")] = False,
    max_wait: MaxWait = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Publish a dataset: licence, privacy and card are checked first, then data and card go in one commit.

    KokoroChat, its translations, EmplifAI and AnnoMI are refused, because their licences do not allow it.

    Example: hf-kokoro publish ./my-dataset --to me/my-dataset --allow url
    """
    from ..workflow import publish as run

    with interruptible(
        f"{folder} is as it was, the target has all of a commit or none; the same command again sends what is missing"
    ):
        report = run(
            folder,
            to,
            public=public,
            private=private,
            holds_licence=i_hold_the_licence,
            allow=allow or (),
            redact=redact,
            policy=policy,
            figures=figures,
            dry_run=dry_run,
            max_wait=max_wait,
        )
    if json_:
        print_json(report.as_dict())
        return
    if report.files or report.removed:
        print(f"{'would publish' if dry_run else 'published'} {folder} to {report.target} (licence {report.licence})")
    else:
        print(f"nothing to publish: {report.target} has all of {folder} already")
    if report.rows_total:
        print(f"  rows: {report.added} new, {report.rows_total} in all")
    for path, size in report.files.items():
        print(f"  {path}  {'+' if path.startswith('data/pilot') else ''}{size} bytes")
    for path in report.removed:
        print(f"  {path}  {'would be removed' if dry_run else 'removed'}: the former build's, not in this one")
    if report.missing:
        print(f"  {report.missing}: {'would be made' if dry_run else 'not there, and not made'}")
    if report.redacted:
        print(f"  {report.redacted} findings replaced")
    for line in report.allowed_findings:
        print(f"  allowed: {line}")
    for line in report.decided:
        print(f"  {line}")
    for path in report.left_here:
        print(f"  not sent: {path}")
    if report.revision:
        print(f"  revision {report.revision[:12]}")
