"""How the rules here cover the published ones of KernelBench-M (arXiv 2609.22220), by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class How(StrEnum):
    """How a published rule is covered."""

    SAME = "same"
    GENERAL = "general"  # by a rule that makes this fault and others
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class Coverage:
    """The rules here that cover a published one, or the reason why none does."""

    how: How
    rules: tuple[str, ...] = ()
    reason: str = ""


def _same(*rules: str) -> Coverage:
    return Coverage(How.SAME, rules)


def _general(*rules: str) -> Coverage:
    return Coverage(How.GENERAL, rules)


_BOUNDARY = {
    "ceil2floor": _same("launch-ceil-to-floor"),
    "ceil2floor-lit": _same("ceil-to-floor"),
    "lt2le": _same("lt-to-le"),
    "le2lt": _same("le-to-lt"),
    "ge2gt": _same("ge-to-gt"),
    "lt2gt": _general("comparison-reversed"),
    "gt2ge": _same("gt-to-ge"),
    "guard-drop-if": _same("guard-dropped"),
    "guard-drop-ternary": _same("ternary-guard-dropped"),
    "return-guard-drop": _same("return-guard-dropped"),
    "loop-bound-minus1": _same("loop-bound-minus-one"),
    "loop-start-1": _general("loop-start-plus-one"),
    "reduce-shift2": _same("tree-shift-two"),
    "argmax-seed-from-second": _general("read-plus-one"),
    "reduce-seed-first-element": _general("seed-first-element"),
    "reduce-seed-first-element-min": Coverage(
        How.NOT_APPLICABLE,
        reason="an extreme that starts from its first element is right; the wrong starts are "
        "those of seed-zero and seed-too-near",
    ),
    "elementwise-guard-minus1": _general("guard-tightened"),
    "elementwise-guard-plus1": _general("lt-to-le"),
    "grid-stride-step-double": _general("loop-step-doubled"),
    "output-elements-one-extra-lane": _general("lt-to-le", "launch-argument-plus-one"),
    "line-count-one-extra-lane": _general("lt-to-le", "launch-argument-plus-one"),
    "flat-n-one-extra-lane": _general("lt-to-le", "launch-argument-plus-one"),
    "matmul-a-last-k-drop": _general("loop-bound-minus-one", "guard-tightened"),
    "matmul-a-transposed-last-k-drop": _general("loop-bound-minus-one", "guard-tightened"),
    "matmul-b-last-k-drop": _general("loop-bound-minus-one", "guard-tightened"),
    "arg-reduction-last-row-drop": _general("loop-bound-minus-one"),
    "min-reduction-last-row-drop": _general("loop-bound-minus-one"),
    "cumsum-last-output-drop": _general("loop-bound-minus-one", "guard-tightened"),
    "pool2d-last-tap-drop": _general("loop-bound-minus-one"),
    "groupnorm-sum-tail-scalar-drop": _general("tail-loop-dropped"),
    "groupnorm-sqdev-tail-scalar-drop": _general("tail-loop-dropped"),
    "last-row-reduction-skip": _general("loop-bound-minus-one"),
    "last-row-reduction-skip-start1": _general("loop-bound-minus-one"),
    "strided-tail-drop": _general("tile-last-skipped"),
    "tile-last-iteration-skip": _same("tile-last-skipped"),
    "literal-loop-last-skip": _general("loop-bound-minus-one"),
    "tail-guard-tighten": _same("guard-tightened"),
    "matrix-row-bound-use-n": _general("bound-of-other-extent"),
    "matrix-col-bound-use-m": _general("bound-of-other-extent"),
    "height-bound-use-width": _general("bound-of-other-extent"),
    "width-bound-use-height": _general("bound-of-other-extent"),
}
_SYNCHRONIZATION = {
    "sync-remove": _same("barrier-removed"),
    "sync2syncwarp": _same("barrier-to-warp"),
    "matmul-after-load-warp-barrier": _general("barrier-to-warp"),
    "matmul-after-compute-warp-barrier": _general("barrier-to-warp"),
    "groupnorm-sum-store-warp-barrier": _general("barrier-to-warp"),
    "groupnorm-sqdev-store-warp-barrier": _general("barrier-to-warp"),
    "groupnorm-final-output-warp-barrier": _general("barrier-to-warp"),
    "batchnorm-local-stats-warp-barrier": _general("barrier-to-warp"),
    "batchnorm-merge-warp-barrier": _general("barrier-to-warp"),
    "batchnorm-output-warp-barrier": _general("barrier-to-warp"),
    "shared-denom-use-local": _general("broadcast-replaced-by-local"),
    "shared-sqrt-use-local": _general("broadcast-replaced-by-local"),
    "reduction-barrier-move-before-store": _general("barrier-early"),
    "welford-count-merge-early": _general("update-order-swapped"),
}
_PRECISION = {
    "acc-fp16": _same("accumulate-fp16"),
    "store-fp16": _same("store-fp16"),
    "expf-fast": _general("fast-intrinsic"),
    "fdividef-fast": _same("fast-divide"),
    "gelu-tanh-const-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "gelu-sqrt2pi-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "invsqrt2-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "selu-alpha-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "selu-scale-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "erf-to-tanh-approx": _same("erf-by-tanh"),
    "softplus-cutoff-shift": _general("constant-off-1e-2", "launch-constant-off-1e-2"),
    "hardsigmoid-slope-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "clamp-bound-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "avgpool121-denom-perturb": _general("constant-off-1e-2", "divisor-minus-one"),
    "hardsigmoid-six-denom-perturb": _general("constant-off-1e-2", "constant-off-1e-3"),
    "hardsigmoid-half-ulpish-perturb": _general("constant-off-1e-5"),
    "softplus-cutoff-tiny-shift": _general("constant-off-1e-5", "launch-constant-off-1e-5"),
    "selu-scale-small-perturb": _general("constant-off-1e-5"),
    "selu-alpha-small-perturb": _general("constant-off-1e-5"),
    "groupnorm-epsilon-halved": _general("epsilon-halved"),
    "batchnorm-epsilon-small-bias": _general("epsilon-tenfold"),
    "matmul-acc-store-fma-nudge": _general("store-nudged"),
    "rsqrt-epsilon-remove": _general("epsilon-removed"),
    "sqrt-epsilon-remove": _general("epsilon-removed"),
    "literal-epsilon-remove": _general("epsilon-removed"),
    "softmax-max-subtraction-remove": _same("max-subtraction-removed"),
    "softmax-max-subtraction-fast-remove": _general("max-subtraction-removed"),
    "welford-second-delta-reuse": _same("welford-delta-reused"),
    "variance-unbiased-count": _general("divisor-minus-one"),
    "kahan-compensation-drop": _same("kahan-dropped"),
}
_INDEXING = {
    "tidx2tidy": _same("thread-axis-swapped"),
    "bidx2bidy": _same("block-axis-swapped"),
    "bdim2gdim": _same("block-dim-to-grid-dim"),
    "smem-index-off1": _same("shared-index-plus-one", "shared-store-plus-one"),
    "warpsize-16": _same("warp-size-halved"),
    "argmax-final-row-alias": _general("store-term-dropped", "index-term-dropped"),
    "argmax-final-row-value-alias": _general("read-plus-one", "index-term-dropped"),
    "reduction-partner-half-offset": _same("partner-half-offset"),
    "row-store-stride-k": _general("stride-of-other-extent"),
    "a-row-stride-n": _general("stride-of-other-extent"),
    "b-row-stride-k": _general("stride-of-other-extent"),
    "flatten-height-use-width": _general("stride-of-other-extent"),
    "output-position-height-first": _general("linear-index-transposed"),
    "grid-x-use-block-y": _general("block-axis-swapped"),
}
_ARITHMETIC = {
    "plus2minus": _same("plus-to-minus"),
    "mul2div": _same("times-to-divide"),
    "mul2plus": _same("times-to-plus"),
    "minus2plus": _same("minus-to-plus"),
    "negate-store": _same("store-negated"),
}
_SEMANTIC = {
    "acc-overwrite": _same("accumulator-overwritten"),
    "acc-minus": _same("accumulator-subtracted"),
    "fmax2fmin": _same("max-to-min"),
    "fmin2fmax": _same("min-to-max"),
    "sentinel-zero": _same("seed-zero"),
    "const0to1": _same("seed-one"),
    "argmax-tie-last": _general("float-comparison-strictness"),
    "argmin-tie-last": _general("float-comparison-strictness"),
    "argmax-tie-nan-form": _general("conjunct-dropped", "max-nan-policy"),
    "argmax-nan-policy-drop": _general("conjunct-dropped"),
    "reduce-fmax-tie-order": _general("max-nan-policy"),
    "reduce-fmin-tie-order": _general("max-nan-policy"),
    "relu-threshold-shift": _general("zero-threshold-shifted"),
    "selu-positive-cutoff-nudge": _general("zero-threshold-shifted"),
    "elu-positive-cutoff-nudge": _general("zero-threshold-shifted"),
    "softsign-positive-fabs-elide": _general("fabs-dropped"),
    "relu-fmax-zero-remove": _general("clamp-removed"),
    "relu-fmax-zero-first-remove": _general("clamp-removed"),
    "upper-unit-clamp-remove": _general("clamp-removed"),
    "upper-unit-clamp-first-remove": _general("clamp-removed"),
    "lower-negunit-clamp-remove": _general("clamp-removed"),
    "nested-unit-clamp-drop-upper": _general("clamp-removed"),
    "fabs-simple-remove": _same("fabs-dropped"),
}

PUBLISHED: Mapping[str, Coverage] = {
    **_BOUNDARY,
    **_SYNCHRONIZATION,
    **_PRECISION,
    **_INDEXING,
    **_ARITHMETIC,
    **_SEMANTIC,
}
"""Every published rule name with what covers it here."""
