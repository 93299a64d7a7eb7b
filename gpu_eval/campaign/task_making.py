"""Tasks made from a plan, with keys that say all that their results depend on."""

import json
from collections.abc import Mapping

from gpu_eval.campaign.chunks import compile_chunks
from gpu_eval.campaign.plan import CampaignPlan, ProblemPlan
from gpu_eval.campaign.settings import Settings
from gpu_eval.campaign.tasks import CellTask, CompileTask, InputFacts, Subject, content_key
from gpu_eval.devices.base import KernelSource
from gpu_eval.problems.plan_text import render


def device_text(described: Mapping[str, str]) -> str:
    """Return what a device says of itself as a text for keys."""
    return json.dumps(dict(described), sort_keys=True)


class TaskMaker:
    """Makes the tasks of a campaign.

    Parameters
    ----------
    plan : CampaignPlan
    settings : Settings
    device : str
        A text that says which device and options: part of every key.
    """

    def __init__(self, plan: CampaignPlan, settings: Settings, device: str) -> None:
        self._settings = settings
        problem_of = {i.id: problem.id for problem in plan.problems for i in problem.order}
        skipped: dict[str, set[tuple[str, str]]] = {}
        for name, where in settings.skipped:
            skipped.setdefault(problem_of.get(where, ""), set()).add((name, where))
        self._skipped = {problem: frozenset(pairs) for problem, pairs in skipped.items()}
        self._common = {
            "device": device,
            "corpus": plan.corpus_hash,
            "pool": plan.pool_hash,
            "witness": plan.witness_hash,
            "floor": settings.deadline_floor,
        }

    def compiles(self, plan: ProblemPlan) -> list[CompileTask]:
        """Return the compile tasks of a problem; substrates and controls come first."""
        return [
            CompileTask(
                self._key("compile", sources=[_describe(s) for s in chunk]), plan.id, tuple(chunk)
            )
            for chunk in compile_chunks(plan.implementations)
        ]

    def cells(
        self,
        plan: ProblemPlan,
        subjects: tuple[Subject, ...],
        facts: Mapping[str, InputFacts] | None,
        fresh: bool = False,
    ) -> CellTask:
        """Return a base task (``facts`` None) or a block of a problem; see `CellTask`."""
        key = self._key(
            "base" if facts is None else "block",
            inputs=[i.id for i in plan.order],
            repeated=sorted(plan.repeated),
            subjects=[
                (s.id, s.binary and s.binary.machine_code, s.plan and render(s.plan))
                for s in subjects
            ],
            problem=plan.id,
        )
        return CellTask(
            key=key,
            problem=plan.id,
            inputs=plan.order,
            repeated=plan.repeated,
            subjects=subjects,
            facts=facts,
            own=plan.own,
            deadline_floor=self._settings.deadline_floor,
            fatal_limit=self._settings.fatal_limit,
            skipped=self._skipped.get(plan.id, frozenset()),
            fresh=fresh,
            lanes=self._settings.lanes,
        )

    def _key(self, prefix: str, **content: object) -> str:
        return content_key(prefix, {**self._common, **content})


def _describe(source: KernelSource) -> str:
    return json.dumps(
        [source.id, dict(source.files), source.main, source.kernels, source.flags], sort_keys=True
    )
