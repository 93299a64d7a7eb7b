"""Words and columns of the matrix format: every name that a stored matrix may contain.

A matrix is a directory (see ``docs/matrix-format.md``)::

    matrix.json               format and tool version, device, options, hashes, complete or not
    problems.parquet          one row a problem
    implementations.parquet   one row a substrate, mutant, null, control or wild kernel
    inputs.parquet            one row a member of the candidate, own or witness pool
    cells/<problem>.parquet   one row a run: implementation x input
    sources/<problem>/...     the substrates' sources and rendered launch plans
"""

from enum import StrEnum

FORMAT_MAJOR = 1
FORMAT_MINOR = 0


class Kind(StrEnum):
    """What an implementation is."""

    SUBSTRATE = "substrate"
    MUTANT = "mutant"
    NULL = "null"
    CONTROL = "control"
    WILD = "wild"


class ImplementationClass(StrEnum):
    """What compilation and the comparison of machine code said of an implementation."""

    VALID = "valid"
    STILLBORN = "stillborn"
    EQUIVALENT = "equivalent"
    DUPLICATE = "duplicate"


class Family(StrEnum):
    """The six families of faults."""

    ARITHMETIC = "arithmetic"
    BOUNDARY = "boundary"
    INDEXING = "indexing"
    PRECISION = "precision"
    SEMANTIC = "semantic"
    SYNCHRONIZATION = "synchronization"


class OperationClass(StrEnum):
    """What a problem computes, coarsely."""

    ELEMENTWISE = "elementwise"
    MATMUL = "matmul"
    SOFTMAX = "softmax"
    NORMALIZATION = "normalization"
    POOLING = "pooling"
    CONVOLUTION = "convolution"
    REDUCTION = "reduction"
    SCAN = "scan"
    LOSS = "loss"
    ARGUMENT_REDUCTION = "argument_reduction"
    ATTENTION = "attention"
    FUSED = "fused"


class Role(StrEnum):
    """Why an input is in the matrix.

    A *candidate* may be chosen into a suite; *own* is a further draw of the benchmark's own
    (the first own draw is a candidate too); a *witness* is never offered to selection.
    """

    CANDIDATE = "candidate"
    OWN = "own"
    WITNESS = "witness"


class ShapeScope(StrEnum):
    """How an input's shape stands to the problem's contract."""

    CONTRACT = "contract"  # reduced dimensions full; parallel ones shrunk congruently at most
    PROFILE = "profile"  # reduced dimensions shortened too (CPU profiles)
    OTHER = "other"  # a shape that the contract does not have


class WitnessScope(StrEnum):
    """Where a mutant was seen to be wrong, the strongest scope first."""

    CONTRACT = "contract"
    PROFILE = "profile"
    OTHER_SHAPE = "other_shape"
    LATENT = "latent"
    NONE = "none"


class Need(StrEnum):
    """What a target must be able to carry so that an input can be exported to it."""

    VALUES = "values"
    PARAMETERS = "parameters"
    SHAPES = "shapes"
    NONFINITE = "nonfinite"


class Status(StrEnum):
    """What happened when a cell ran.

    An exception (``crash``, ``timeout``, ``launch_error``) is a kill under every protocol.
    ``closed`` stands for a cell that need not run because its mutant crashed or timed out on two
    inputs (in a confirmation on another member, or on this one in the suite's matrix; in older
    matrices a refused launch counts, too): a kill, except on inputs of another shape than the
    contract's or the profile's where the mutant crashed or timed out on none of those, and except
    where refused launches alone have closed it; in both cases a kill where its launch was refused
    at this very shape. What is no kill is not known. ``decided`` stands for a later own draw of a
    mutant that the first one showed to be far off: a kill at every tolerance up to 0.1, unknown
    above. ``out_of_bounds`` and ``unwritten`` are witnesses that a mutant is wrong; whether they
    are kills is said by their statistics (for ``unwritten`` those of a rerun over the stale
    correct result). ``invalid`` marks an input on which the reference or the substrate itself
    fails.
    """

    OK = "ok"
    NONFINITE = "nonfinite"
    OUT_OF_BOUNDS = "out_of_bounds"
    UNWRITTEN = "unwritten"
    CRASH = "crash"
    TIMEOUT = "timeout"
    LAUNCH_ERROR = "launch_error"
    CLOSED = "closed"
    DECIDED = "decided"
    INVALID = "invalid"


CLOSING_STATUSES = frozenset({Status.CRASH, Status.TIMEOUT})
"""Exceptions that may close a mutant. A refused launch costs nothing, and hangs on the shape."""
FATAL_STATUSES = CLOSING_STATUSES | {Status.LAUNCH_ERROR}
"""Exceptions that happened."""
EXCEPTION_STATUSES = FATAL_STATUSES | {Status.CLOSED}
"""These, and the cells that need not run because of them."""
MEASURED_STATUSES = frozenset({Status.OK, Status.NONFINITE, Status.OUT_OF_BOUNDS, Status.UNWRITTEN})
DECIDED_TOLERANCE = 0.1


class Statistic(StrEnum):
    """Critical tolerances of a cell: the smallest t at which a comparator accepts it.

    With d = \\|out - ref\\| over elements finite on both sides, ``ref`` the benchmark's own
    reference in its own dtype and ``truth`` the reference in fp64. A ratio d/s with s = 0 is
    infinite for d > 0 and 0 for d = 0. Each is taken per output tensor, then the maximum.
    """

    ALLCLOSE_CANDIDATE = "allclose_candidate"  # max d / (1 + |out|): torch.allclose(ref, out)
    ALLCLOSE_REFERENCE = "allclose_reference"  # max d / (1 + |ref|): torch.allclose(out, ref)
    MAX_ABS = "max_abs"  # max d
    MAX_REL = "max_rel"  # max d / |ref|
    EITHER_OR = "either_or"  # max min(d, d / |ref|)
    GLOBAL = "global"  # max d / (1 + max |ref|)
    RMS = "rms"  # max d / RMS(ref)
    TRUTH_ALLCLOSE = "truth_allclose"  # max |out - truth| / (1 + |truth|)
    TRUTH_RMS = "truth_rms"  # max |out - truth| / RMS(truth)
    TRUTH_RMS_ERROR = "truth_rms_error"  # RMS(out - truth) / RMS(truth)


OWN_STATISTICS = (
    Statistic.ALLCLOSE_CANDIDATE,
    Statistic.ALLCLOSE_REFERENCE,
    Statistic.MAX_ABS,
    Statistic.MAX_REL,
    Statistic.EITHER_OR,
    Statistic.GLOBAL,
    Statistic.RMS,
)
TRUTH_STATISTICS = (
    Statistic.TRUTH_ALLCLOSE,
    Statistic.TRUTH_RMS,
    Statistic.TRUTH_RMS_ERROR,
)
STATISTICS = OWN_STATISTICS + TRUTH_STATISTICS


class Count(StrEnum):
    """Elements of a cell that have no finite difference, counted over all output tensors."""

    NAN_BOTH = "nan_both"  # NaN in output and own reference
    NAN_ONE = "nan_one"  # NaN in exactly one of them
    INF_MISMATCH = "inf_mismatch"  # an infinity that the other side does not have (no NaN)
    NONFINITE_OUTPUT = "nonfinite_output"  # any non-finite element of the output


COUNTS = tuple(Count)
