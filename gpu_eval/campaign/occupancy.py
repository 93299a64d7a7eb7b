"""What a campaign's directory holds already: refused, or checked to be what it was."""

import json
from collections.abc import Mapping
from typing import Any

from gpu_eval.campaign.header import tool_version
from gpu_eval.campaign.layout import Layout
from gpu_eval.campaign.plan import CampaignPlan
from gpu_eval.campaign.settings import Settings
from suiteopt.errors import UserError
from suiteopt.matrix.files import write_atomic


def freeze(layout: Layout, plan: CampaignPlan) -> None:
    """Write down what the campaign measures, for whoever goes on with it."""
    frozen = {**plan.frozen(), "version": tool_version()}
    write_atomic(layout.frozen, (json.dumps(frozen, indent=2) + "\n").encode())


def read_frozen(layout: Layout) -> dict[str, Any]:
    """Return what `freeze` has written down.

    Raises
    ------
    UserError
        If it has left nothing that can be read.
    """
    try:
        frozen: dict[str, Any] = json.loads(layout.frozen.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{layout.frozen} is missing or damaged; start again in an empty directory"
        ) from error
    return frozen


def check_frozen(layout: Layout, plan: CampaignPlan, frozen: Mapping[str, Any]) -> None:
    """Check that a campaign would go on with what it was started with.

    Raises
    ------
    UserError
        If it would not.
    """
    now = plan.frozen()
    for key, what in (
        ("corpus_hash", "corpus"),
        ("witness_hash", "witness pool"),
        ("pool_hash", "input pool"),
    ):
        if frozen.get(key) != now[key]:
            raise UserError(
                f"the {what} is no longer the one that the campaign in {layout.root} was started "
                "with; put it back, or start again in an empty directory"
            )


def refuse_occupied(layout: Layout, settings: Settings) -> None:
    """Refuse a directory that holds anything.

    Raises
    ------
    UserError
        If it does; the sentence says what.
    """
    if layout.started:
        if not _asks_the_same(layout, settings):
            raise UserError(
                f"{layout.root} holds a campaign that was asked for something else; choose another "
                f"--output, or finish that one with 'gpu-eval resume {layout.root}'"
            )
        raise UserError(
            f"{layout.root} already holds a campaign; go on with 'gpu-eval resume {layout.root}' "
            "or choose another --output"
        )
    if layout.header.exists():
        raise UserError(
            f"{layout.root} already holds a matrix; choose another --output or remove it"
        )
    if layout.root.exists() and not layout.root.is_dir():
        raise UserError(f"{layout.root} is a file; choose a directory for --output")
    others = (
        []
        if not layout.root.exists()
        else [p.name for p in layout.root.iterdir() if p != layout.work]
    )
    if others:
        raise UserError(
            f"{layout.root} is not empty (it holds {sorted(others)[0]}); choose another --output"
        )


def _asks_the_same(layout: Layout, settings: Settings) -> bool:
    """Tell whether the campaign that is there measures what these settings would."""
    try:
        there = Settings.from_json(layout.settings.read_text("utf-8"), layout.settings)
    except (OSError, UserError):
        return True  # what is wrong with it is said when it goes on
    asked = ("profile", "problems", "corpora", "suite", "sass", "wild", "limits", "sites")
    return all(getattr(there, name) == getattr(settings, name) for name in asked)
