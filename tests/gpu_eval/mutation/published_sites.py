"""Where each published rule name has its site: problems of level 1, and the text that is edited.

Written from what a name says (``matmul-a-last-k-drop``: a guard of the shared dimension, in a
matrix product), so that a covering rule that no longer finds that place fails the test.
"""

from collections.abc import Collection
from dataclasses import dataclass

MATMUL = frozenset(range(1, 19))
ELEMENTWISE = frozenset({*range(19, 23), *range(25, 33), 88})
NORMALISATION = frozenset(range(33, 41))
WINDOWS = frozenset({*range(41, 47), 50, *range(54, 88)})  # pooling and convolution
PLANES = WINDOWS - {41, 44, 64, 67, 74, 76, 79}
REDUCTION = frozenset({47, 48, 49, 53})
ARGUMENT = frozenset({51, 52})
SCAN = frozenset(range(89, 94))
ALL = frozenset(range(1, 101))

# A coordinate along the dimension that a product sums over, and that dimension's extents.
_K = r"^(k|k0|at|a_col|b_row|k0 \+ \w+)( \+ 3)? (<|>=) (k|n|depth|length|end)$"
_BARRIER = "__syncthreads"


@dataclass(frozen=True)
class Where:
    """Where to look; expressions are searched for in the text before and after the edit.

    Attributes
    ----------
    problems : collection of int
        Numbers in level 1.
    before, after, prefix : str
        Regular expressions; ``prefix`` for the line up to the edit.
    sites : int
        How many different places one file must have.
    """

    problems: Collection[int] = ALL
    before: str = ""
    after: str = ""
    prefix: str = ""
    sites: int = 1


def _in(problems: Collection[int], before: str = "", after: str = "", sites: int = 1) -> Where:
    return Where(problems, before, after, sites=sites)


_BOUNDARY = {
    "ceil2floor": _in(ALL, "^ceil_div", "//"),
    "ceil2floor-lit": _in(ALL, r"\+ (\d+|\w+ - 1)\) / \w+$"),
    "lt2le": _in(ALL, "<", "<="),
    "le2lt": _in(ALL, "<=", "< "),
    "ge2gt": _in(ALL, ">=", "> "),
    "lt2gt": _in(ALL, " < ", " > "),
    "gt2ge": _in(ALL, " > ", ">="),
    "guard-drop-if": _in(ALL, "<|>", "^true$"),
    "guard-drop-ternary": _in(ALL, r"\? .* : "),
    "return-guard-drop": _in(ALL, ">=", "^false$"),
    "loop-bound-minus1": _in(ALL, "< n$", "< n - 1$"),
    "loop-start-1": _in(ALL, "^0$", "^1$"),
    "reduce-shift2": _in(ALL, ">>= 1$", ">>= 2$"),
    "argmax-seed-from-second": Where(ARGUMENT, after=r"\+ 1\]$", prefix=r"best = $"),
    "reduce-seed-first-element": _in(REDUCTION, r"^0\.0f$"),
    "elementwise-guard-minus1": _in(ELEMENTWISE, r"^\w+ < \w+$", "- 1$"),
    "elementwise-guard-plus1": _in(ELEMENTWISE, r"^\w+ < \w+$", "<="),
    "grid-stride-step-double": _in(ALL, r"\+= gridDim", r"\+= 2 \* "),
    "output-elements-one-extra-lane": _in(WINDOWS, "< outputs$"),
    "line-count-one-extra-lane": _in(SCAN, "^rows$|row < rows$"),
    "flat-n-one-extra-lane": _in(ELEMENTWISE, r"^rows \* cols$|< n$"),
    "matmul-a-last-k-drop": _in(MATMUL - {16, 18}, _K, "- 1$"),
    "matmul-a-transposed-last-k-drop": _in({16, 18}, _K, "- 1$"),
    "matmul-b-last-k-drop": _in(MATMUL, _K, "- 1$", sites=2),
    "arg-reduction-last-row-drop": _in(ARGUMENT, r"^row < (rows|end)$"),
    "min-reduction-last-row-drop": _in({53}, r"row < (rows|end)$"),
    "cumsum-last-output-drop": _in({89, 91, 92, 93}, r"< cols$", "- 1$"),
    "pool2d-last-tap-drop": _in({42, 45}, r"^[ij] < k?[kK]ernel$"),
    "groupnorm-sum-tail-scalar-drop": _in({35}, r"sum \+= run\[i\]"),
    "groupnorm-sqdev-tail-scalar-drop": _in({35}, r"deviation \+= d \* d"),
    "last-row-reduction-skip": _in(REDUCTION, r"row < (rows|end)$"),
    "last-row-reduction-skip-start1": _in(REDUCTION | NORMALISATION, r"^w < warps$"),
    "strided-tail-drop": _in(NORMALISATION, r"^i < (n|cols|size)$"),
    "tile-last-iteration-skip": _in(MATMUL, r"^k0 < (n|k|depth|end)$", r"- \(kTile\w*\)$"),
    "literal-loop-last-skip": _in(ALL, r"< \d+$", r"< \d+$"),
    "tail-guard-tighten": _in(ALL, r"< \w+$", r"< \w+ - 1$"),
    "matrix-row-bound-use-n": _in(MATMUL, "row < (m|rows)$", "row < (n|cols)$"),
    "matrix-col-bound-use-m": _in(MATMUL, "col < (n|cols)$", "col < (m|rows)$"),
    "height-bound-use-width": _in(PLANES, "height$", "width$"),
    "width-bound-use-height": _in(PLANES, "width$", "height$"),
}
_SYNCHRONIZATION = {
    "sync-remove": _in(ALL, _BARRIER, "^;$"),
    "sync2syncwarp": _in(ALL, _BARRIER, "__syncwarp"),
    # A tile is loaded, barrier, used, barrier: two places of one file.
    "matmul-after-load-warp-barrier": _in(MATMUL, _BARRIER, sites=2),
    "matmul-after-compute-warp-barrier": _in(MATMUL, _BARRIER, sites=2),
    # Stored for the tree, a level added, the root read: three of the header that sums.
    "groupnorm-sum-store-warp-barrier": _in({35}, _BARRIER, sites=3),
    "groupnorm-sqdev-store-warp-barrier": _in({35}, _BARRIER, sites=3),
    "groupnorm-final-output-warp-barrier": _in({35}, _BARRIER, sites=3),
    "batchnorm-local-stats-warp-barrier": _in({33}, _BARRIER, sites=2),
    "batchnorm-merge-warp-barrier": _in({33}, _BARRIER, sites=2),
    "batchnorm-output-warp-barrier": _in({33}, _BARRIER, sites=2),
    "shared-denom-use-local": _in({38}, r"^scratch\[0\]$", "^value$"),
    "shared-sqrt-use-local": _in({35, 37, 39}, r"^scratch\[0\]$", "^value$"),
    "reduction-barrier-move-before-store": _in(ALL, r"^scratch\[tid\] = value;"),
    "welford-count-merge-early": _in(NORMALISATION, "= welford_merge"),
}
_SELU_ALPHA = _in({27}, r"^1\.6732632")
_SELU_SCALE = _in({27}, r"^1\.0507009")
_PRECISION = {
    "acc-fp16": _in(ALL, r"\+="),
    "store-fp16": _in(ALL, r"\] = "),
    "expf-fast": _in(ALL, r"^expf\(", r"^__expf\("),
    "fdividef-fast": _in(ALL, " / ", "__fdividef"),
    "gelu-tanh-const-perturb": _in({88}, r"^0\.044715f$"),
    "gelu-sqrt2pi-perturb": _in({88}, r"^0\.7978845"),
    "invsqrt2-perturb": _in({26}, r"^0\.7071067"),
    "selu-alpha-perturb": _SELU_ALPHA,
    "selu-scale-perturb": _SELU_SCALE,
    "erf-to-tanh-approx": _in({26}, "^erff", "^tanhf"),
    "softplus-cutoff-shift": _in({29}, "^threshold$"),
    "hardsigmoid-slope-perturb": Where({28}, r"^[16]\.0f$", prefix=r"fmaf\(value, "),
    "clamp-bound-perturb": _in({32}, r"^-?1\.0f$"),
    "avgpool121-denom-perturb": _in({45}, "/ taps$", r"/ \(taps - 1\)$"),
    "hardsigmoid-six-denom-perturb": Where({28}, r"^6\.0f$", prefix="/ $"),
    "hardsigmoid-half-ulpish-perturb": _in({28}, r"^0\.5f$"),
    "softplus-cutoff-tiny-shift": _in({29}, "^threshold$"),
    "selu-scale-small-perturb": _SELU_SCALE,
    "selu-alpha-small-perturb": _SELU_ALPHA,
    "groupnorm-epsilon-halved": _in({35}, r"\+ eps$", r"0\.5f"),
    "batchnorm-epsilon-small-bias": _in({33}, r"\+ eps$", r"10\.0f"),
    "matmul-acc-store-fma-nudge": _in(MATMUL, r"\] = acc", r"1\.0001f"),
    "rsqrt-epsilon-remove": Where(NORMALISATION, r"\+ eps$", prefix=r"rsqrtf\($"),
    "sqrt-epsilon-remove": Where(NORMALISATION, r"\+ eps$", prefix=r"[^r]sqrtf\($"),
    "softmax-max-subtraction-remove": _in({23}, r"^expf\(.* - largest\)$"),
    "softmax-max-subtraction-fast-remove": _in({23, 97}, r"^expf\(.* - \w+\)$", r"^expf\(\w+\)$"),
    "welford-second-delta-reuse": _in(NORMALISATION, r"delta \*", r"^delta \* delta$"),
    "variance-unbiased-count": _in(NORMALISATION, r"(deviation|squares), .*/ \w+$", "- 1"),
    "kahan-compensation-drop": _in({48}, "^lost = "),
}
_INDEXING = {
    "tidx2tidy": _in(ALL, r"^threadIdx\.x$", r"^threadIdx\.y$"),
    "bidx2bidy": _in(ALL, r"^blockIdx\.x$", r"^blockIdx\.y$"),
    "bdim2gdim": _in(ALL, r"^blockDim\.x$", r"^gridDim\.x$"),
    "smem-index-off1": _in(ALL, r"\]$", r"\+ 1\]$"),
    "warpsize-16": _in(ALL, "[/%] 32$", "[/%] 16$"),
    "argmax-final-row-alias": _in(ARGUMENT, r"^batch \* cols \+ col$"),
    "argmax-final-row-value-alias": _in(ARGUMENT, r"\(row\) \* cols \+ col"),
    "reduction-partner-half-offset": _in(ALL, r"\+ stride\]$", r"\+ stride / 2\]$"),
    "row-store-stride-k": _in(MATMUL, r"^row \* n \+ col$", r"^row \* k \+ col$"),
    "a-row-stride-n": _in(MATMUL, r"row\w*\)? \* k \+ (at|k0|i)", r" \* [mn] \+ "),
    "b-row-stride-k": _in(MATMUL, r"^\(?(at|b_row|k0 \+ \w+)\)? \* n \+", r" \* k \+"),
    "flatten-height-use-width": _in(PLANES, r"\* height \+", r"\* width \+"),
    "output-position-height-first": _in(PLANES, r"^row \* width \+ col$", r"^col \* width \+ row$"),
    "grid-x-use-block-y": _in(ALL, r"^blockIdx\.x$", r"^blockIdx\.y$"),
}
_ARITHMETIC = {
    "plus2minus": _in(ALL, r" \+ ", " - "),
    "mul2div": _in(ALL, r" \* ", " / "),
    "mul2plus": _in(ALL, r" \* ", r" \+ "),
    "minus2plus": _in(ALL, " - ", r" \+ "),
    "negate-store": _in(ALL, "= acc$", "= -acc$"),
}
_SEMANTIC = {
    "acc-overwrite": _in(ALL, r"\+=", " = "),
    "acc-minus": _in(ALL, r"\+=", "-="),
    "fmax2fmin": _in(ALL, r"^fmaxf\(", r"^fminf\("),
    "fmin2fmax": _in(ALL, r"^fminf\(", r"^fmaxf\("),
    "sentinel-zero": _in(ALL, "INFINITY|FLT_MAX", r"^0\.0f$"),
    "const0to1": _in(ALL, r"^0\.0f$", r"^1\.0f$"),
    "argmax-tie-last": _in({51}, "^value > best$", ">="),
    "argmin-tie-last": _in({52}, "^value < best$", "<="),
    "argmax-tie-nan-form": _in({51}, "^value != value && best == best$", "^value != value$"),
    "argmax-nan-policy-drop": _in({51}, r"^value > best \|\|", "^value > best$"),
    "reduce-fmax-tie-order": _in(ALL, r"^fmaxf\(\w+, ", " > .* [?] "),
    "reduce-fmin-tie-order": _in({53}, r"^fminf\(\w+, ", " < .* [?] "),
    "relu-threshold-shift": _in({19}, r"0\.0f", "1e-3f"),
    "selu-positive-cutoff-nudge": _in({27}, r"^value > 0\.0f$"),
    "elu-positive-cutoff-nudge": _in({31}, r"^value > 0\.0f$"),
    "softsign-positive-fabs-elide": _in({30}, "^fabsf"),
    "relu-fmax-zero-remove": _in({19}, r"^fmaxf\(\w+, 0\.0f\)$"),
    "upper-unit-clamp-remove": _in({28, 32}, r", 1\.0f\)$", "^fmaxf"),
    "lower-negunit-clamp-remove": _in({32}, r"^fmaxf\(\w+, -1\.0f\)$"),
    "nested-unit-clamp-drop-upper": _in({32}, r"^fminf\(fmaxf\(", "^fmaxf"),
    "fabs-simple-remove": _in(ALL, r"^fabsf\(\w+\)$", r"^\w+$"),
}

SITES = {
    **_BOUNDARY,
    **_SYNCHRONIZATION,
    **_PRECISION,
    **_INDEXING,
    **_ARITHMETIC,
    **_SEMANTIC,
}

# name -> statements in which the covering rule finds it, and why no kernel of level 1 has such
WITHOUT_SITE = {
    "literal-epsilon-remove": (
        "v = w / sqrtf(v + 1e-6f);",
        "every epsilon of level 1 is a parameter of its model and reaches the kernel as one",
    ),
    "relu-fmax-zero-first-remove": (
        "v = fmaxf(0.0f, w);",
        "no kernel writes the bound first; the fault is that of relu-fmax-zero-remove",
    ),
    "upper-unit-clamp-first-remove": (
        "v = fminf(1.0f, w);",
        "no kernel writes the bound first; the fault is that of upper-unit-clamp-remove",
    ),
}
