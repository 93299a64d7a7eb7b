"""How long a certificate may take."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one certificate.

    Attributes
    ----------
    deterministic : float
        CP-SAT's own measure of work, about seconds on one core; the same on every machine.
    nodes : int
        Branch-and-bound nodes of MathOpt's solvers; the same on every machine.
    seconds : float
        Wall-clock limit of all but CP-SAT. Where it is hit, their bound depends on the machine.
    grace : float
        Seconds after which a solver that ignores its limit is ended.
    """

    deterministic: float = 20.0
    nodes: int = 500
    seconds: float = 60.0
    grace: float = 2.0
