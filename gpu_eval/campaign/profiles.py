"""How large a campaign is: pools, limits of shapes, and how a device is shared."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from gpu_eval.campaign.shape_limits import Limits


@dataclass(frozen=True)
class Profile:
    """How large a campaign is.

    Attributes
    ----------
    name : str
    limits : Limits
    candidates : int
        Candidate inputs a problem (the further own draws come on top).
    witnesses : int
        Witness inputs a problem.
    scalings, shapes, parameters : int
        How many of the candidates scale an own draw, have another shape, and (where there are
        parameters) have other parameters.
    composed : bool
        Whether the pool has the composites of `gpu_eval.campaign.composites`, in place of the
        value choices that they displace.
    problems : tuple of str
        Ids; empty for all of the corpus.
    own_limits, witness_limits : Limits or None
        For the benchmark's own draws (and their scalings), and for witnesses, where they differ.
    scaled_limits : Limits or None
        For the scalings, where they differ from those of the own draws.
    full_limits : Limits or None
        For own draws and `full_witnesses` witnesses of a problem whose reductions the limits above
        would shorten.
    spread_limits : Limits or None
        Where these keep the reductions of such a problem full, all its inputs have that shape.
    full_witnesses : int
    hashed_elements : int or None
        Own draws of tensors with more elements take the benchmark's distribution from integer
        hashing on the device, not from torch's CPU generator; their recipe says so.
    block : int
        Implementations in one task. Large where making an input costs more than running on it.
    jobs : int
        Processes that take turns on a GPU, unless the user says otherwise.
    lanes : int
        Runs that each of them has under way on a GPU at the same time: the grid of one alone may
        leave most of it idle.
    sites : int or None
        At how many sites of a substrate each rule is applied; None for all.
    """

    name: str
    limits: Limits
    candidates: int
    witnesses: int
    scalings: int
    shapes: int
    parameters: int
    composed: bool = False
    problems: tuple[str, ...] = ()
    own_limits: Limits | None = None
    witness_limits: Limits | None = None
    scaled_limits: Limits | None = None
    full_limits: Limits | None = None
    spread_limits: Limits | None = None
    full_witnesses: int = 0
    hashed_elements: int | None = None
    block: int = 24
    jobs: int = 4
    lanes: int = 1
    sites: int | None = None


_CPU_PROBLEMS = (
    "level1/001",
    "level1/019",
    "level1/023",
    "level1/040",
    "level1/042",
    "level1/050",
)
"""What the small profiles measure, whatever else the corpus holds: their matrices stay the same."""

_CONTRACT = Limits(
    max_outputs=1 << 40,
    # 16 MiB of fp32 terms: what controls that add one term after the other can afford.
    max_reduction=1 << 22,
    # 1 GiB and what comes with it.
    max_elements=(1 << 28) + (1 << 25),
    max_work=7 * 10**10,
)
"""Cells of GPUs: reductions in full wherever these allow it, see `Limits.target_elements`."""

IMPLEMENTATIONS = 140
"""Of a problem of level 1 under the profile `contract`, on average: what a budget is shared by."""


def _within(seconds: float, inputs: int, elements: int) -> Limits:
    """Return the limits under which so many inputs of a problem cost so much, by estimate."""
    each = seconds / (inputs * IMPLEMENTATIONS)
    return replace(_CONTRACT, max_seconds=each, target_elements=elements)


_OWN_SECONDS = 1.5
_SCALED_SECONDS = 0.75
_OTHER_SECONDS = 1.75
"""What a problem may cost: its own draws; and of the 2.5 s for all other inputs, the scalings of
the own draw and the rest."""

_OWN, _SCALED, _OTHER = 5, 5, 58
_LARGE, _SMALL = (1 << 27) + (1 << 24), 1 << 23
_OTHERS = _within(_OTHER_SECONDS, _OTHER, _SMALL)

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "demo": Profile(
            "demo",
            Limits(4096, 256),
            candidates=16,
            witnesses=8,
            scalings=3,
            shapes=2,
            parameters=3,
            problems=_CPU_PROBLEMS,
        ),
        "quick": Profile(
            "quick",
            Limits(4096, 512),
            candidates=24,
            witnesses=16,
            scalings=4,
            shapes=3,
            parameters=4,
            problems=_CPU_PROBLEMS,
        ),
        "full": Profile("full", Limits(16384, 4096), 48, 24, scalings=5, shapes=5, parameters=8),
        "contract": Profile(
            "contract",
            _OTHERS,
            candidates=48,
            witnesses=16,
            scalings=_SCALED,
            # All other shapes are composites.
            shapes=0,
            parameters=4,
            composed=True,
            own_limits=_within(_OWN_SECONDS, _OWN, _LARGE),
            scaled_limits=_within(_SCALED_SECONDS, _SCALED, _LARGE),
            witness_limits=_OTHERS,
            # A square product of 4096 takes 20 ms a cell: eight inputs of it, not all.
            full_limits=replace(_CONTRACT, target_elements=_SMALL),
            # At the least parallel dimensions: the only inputs beyond the budget but those eight.
            spread_limits=replace(_CONTRACT, max_seconds=1.2e-3, target_elements=1),
            full_witnesses=3,
            # Beyond this torch's generator, a processor's, takes longer than all that is run on it.
            hashed_elements=1 << 24,
            # Mostly all mutants of a problem: every further block makes its inputs once more.
            block=144,
            # While some make inputs or wait for a new context, others keep the GPU busy.
            jobs=4,
            lanes=8,
            # At contract shapes a second site of a rule costs what another problem would.
            sites=1,
        ),
    }
)
