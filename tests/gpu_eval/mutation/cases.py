"""Every source rule on snippets of its own: the statements, and what each edit makes of them."""

# ruff: noqa: E501 (a row is one line where it can be)

from gpu_eval.mutation.rules.rounding import BF16, FP16

HELPER = "__device__ float blend(float a, float b) { return a; }\n"
ACT = "__device__ float act(float a) { return a / (1.0f + a); }\n"
LEAKY = "__device__ float leaky(float a, float slope) { return a; }\n"
TOTAL = (
    "__device__ float total(float a, float* s) { s[0] = a; __syncthreads(); return s[0]; }\n"
    "__device__ float both(float a, float* s) { return total(a, s) + a; }\n"
)
PARTS = "__device__ float parts(const float* p, int row, int count) { return p[row * count]; }\n"
HERE = "int row = blockIdx.y;\nint col = threadIdx.x;\n"

# rule -> (prelude, statements, statements after each edit, in order of place)
CASES: dict[str, list[tuple[str, str, list[str]]]] = {
    "epsilon-removed": [
        ("", "float r = rsqrtf(v + eps);", ["float r = rsqrtf(v);"]),
        ("", "float r = v / (1e-6f + w);", ["float r = v / (w);"]),
        ("", "float r = v / fmaxf(w, 1e-12f);", ["float r = v / w;"]),
    ],
    "epsilon-halved": [
        ("", "float r = rsqrtf(v + eps);", ["float r = rsqrtf(v + 0.5f * eps);"]),
        ("", "float r = v / fmaxf(w, 1e-12f);", ["float r = v / fmaxf(w, 0.5f * 1e-12f);"]),
    ],
    "epsilon-tenfold": [
        ("", "float r = rsqrtf(v + 1e-5f);", ["float r = rsqrtf(v + 10.0f * 1e-5f);"]),
    ],
    "epsilon-outside-root": [
        ("", "float r = rsqrtf(v + eps);", ["float r = (1.0f / (sqrtf(v) + eps));"]),
        ("", "float r = v / sqrtf(w + 1e-5f);", ["float r = v / (sqrtf(w) + 1e-5f);"]),
    ],
    "max-subtraction-removed": [
        ("", "float e = expf(v - w);", ["float e = expf(v);"]),
        ("", "float e = __expf((v - w) * 2.0f);", ["float e = __expf((v) * 2.0f);"]),
    ],
    "exp2-unscaled": [
        ("", "float e = expf(v);", ["float e = exp2f(v);"]),
    ],
    "variance-one-pass": [
        (
            "",
            "float d = x[i] - w;\nv += d * d;",
            ["float d = x[i] - w;\nv += (x[i] * x[i] - w * w);"],
        ),
        ("", "v = fmaf(v - w, v - w, acc);", ["v = (acc + (v * v - w * w));"]),
    ],
    "welford-delta-reused": [
        (
            "",
            "float d = v - w;\nw += d / n;\nacc += d * (v - w);",
            ["float d = v - w;\nw += d / n;\nacc += d * d;"],
        ),
    ],
    "divisor-minus-one": [
        ("", "v = acc / n;", ["v = acc / (n - 1);"]),
        ("", "v = acc / (float)n;", ["v = acc / (float)(n - 1);"]),
        ("", "v = acc / static_cast<float>(n);", ["v = acc / static_cast<float>((n - 1));"]),
    ],
    "kahan-dropped": [
        (
            "",
            "for (int k = 0; k < n; ++k) {\n  float t = acc + (x[k] - w);\n  w = (t - acc) - v;\n  acc = t;\n}",
            [
                "for (int k = 0; k < n; ++k) {\n  float t = acc + (x[k] - w);\n  w = 0.0f;\n  acc = t;\n}"
            ],
        ),
    ],
    "accumulate-fp16": [
        ("", "acc += v * w;", [f"acc = {FP16}(acc + (v * w));"]),
        ("", "acc = fmaf(v, w, acc);", [f"acc = {FP16}(fmaf(v, w, acc));"]),
    ],
    "accumulate-bf16": [
        ("", "acc += v;", [f"acc = {BF16}(acc + v);"]),
    ],
    "store-fp16": [
        ("", "y[i] = v * w;", [f"y[i] = {FP16}(v * w);"]),
        (
            "",
            "float4* y4 = reinterpret_cast<float4*>(y);\ny4[i] = q;",
            [
                f"float4* y4 = reinterpret_cast<float4*>(y);\ny4[i] = [](float4 u) {{ auto r = {FP16}; return make_float4(r(u.x), r(u.y), r(u.z), r(u.w)); }}(q);"
            ],
        ),
    ],
    "store-bf16": [
        ("", "y[i] = v;", [f"y[i] = {BF16}(v);"]),
    ],
    "stage-fp16": [
        ("", "tile[t] = v;", [f"tile[t] = {FP16}(v);"]),
    ],
    "load-fp16": [
        ("", "v = x[i];", [f"v = {FP16}(x[i]);"]),
    ],
    "load-bf16": [
        ("", "v = x[i];", [f"v = {BF16}(x[i]);"]),
    ],
    "operands-tf32": [
        (
            "",
            "acc += x[i] * w;",
            [
                "acc += __int_as_float(__float_as_int(x[i]) & ~0x1fff) * __int_as_float(__float_as_int(w) & ~0x1fff);"
            ],
        ),
        (
            "",
            "acc = fmaf(v, w, acc);",
            [
                "acc = fmaf(__int_as_float(__float_as_int(v) & ~0x1fff), __int_as_float(__float_as_int(w) & ~0x1fff), acc);"
            ],
        ),
    ],
    "store-nudged": [
        ("", "y[i] = v + w;", ["y[i] = (v + w) * 1.0001f;"]),
    ],
    "double-narrowed": [
        ("", "double total = 0.0;", ["float total = 0.0;"]),
    ],
    "fast-intrinsic": [
        ("", "v = expf(w) + logf(w);", ["v = __expf(w) + logf(w);", "v = expf(w) + __logf(w);"]),
    ],
    "fast-divide": [
        ("", "v = v / (w + 1.0f);", ["v = __fdividef(v, (w + 1.0f));"]),
    ],
    "sqrt-by-rsqrt": [
        ("", "v = sqrtf(w + 1.0f);", ["v = ((w + 1.0f) * rsqrtf(w + 1.0f));"]),
    ],
    "tanh-by-exp": [
        ("", "v = tanhf(w);", ["v = ((expf(2.0f * w) - 1.0f) / (expf(2.0f * w) + 1.0f));"]),
    ],
    "erf-by-tanh": [
        ("", "v = erff(w);", ["v = tanhf(1.128379167f * w * (1.0f + 0.08943f * w * w));"]),
    ],
    "expm1-by-exp": [
        ("", "v = expm1f(w);", ["v = expf(w) - 1.0f;"]),
        ("", "v = acc * expm1f(-2.0f * w);", ["v = acc * (expf(-2.0f * w) - 1.0f);"]),
        ("", "v = fabsf(expm1(v + w));", ["v = fabsf(exp(v + w) - 1.0f);"]),
    ],
    "log1p-by-log": [
        ("", "v = log1pf(expf(w));", ["v = logf(1.0f + expf(w));"]),
        ("", "v = acc / log1pf(w * w);", ["v = acc / logf(1.0f + (w * w));"]),
    ],
    "constant-off-1e-2": [
        ("", "v = w * 0.5f;", ["v = w * 0.505f;"]),
    ],
    "constant-off-1e-3": [
        ("", "v = w * 0.7978845608f;", ["v = w * 0.798682445f;"]),
    ],
    "constant-off-1e-5": [
        ("", "v = w - 2.0f;", ["v = w - 2.00002f;"]),
    ],
    "accumulator-overwritten": [
        ("", "acc += v;", ["acc = v;"]),
        ("", "acc = fmaf(v, w, acc);", ["acc = v * w;"]),
        ("", "acc = v + acc;", ["acc = v;"]),
    ],
    "accumulator-subtracted": [
        ("", "acc += v;", ["acc -= v;"]),
        ("", "acc = acc + v * w;", ["acc -= v * w;"]),
    ],
    "extreme-overwritten": [
        ("", "v = fmaxf(v, x[i]);", ["v = x[i];"]),
    ],
    "max-to-min": [
        ("", "v = fmaxf(v, w);", ["v = fminf(v, w);"]),
        ("", "int a = max(n, m);", ["int a = min(n, m);"]),
    ],
    "min-to-max": [
        ("", "v = fminf(v, w);", ["v = fmaxf(v, w);"]),
    ],
    "float-comparison-strictness": [
        ("", "if (v > w) v = w;", ["if (v >= w) v = w;"]),
    ],
    "float-comparison-reversed": [
        ("", "if (v > w) v = w;", ["if (v < w) v = w;"]),
    ],
    "equality-negated": [
        ("", "if (t == 0) y[0] = v;", ["if (t != 0) y[0] = v;"]),
    ],
    "seed-zero": [
        ("", "v = -INFINITY;", ["v = 0.0f;"]),
        ("", "v = -3.402823466e+38f;", ["v = 0.0f;"]),
        ("", "v = __int_as_float(0xff800000);", ["v = 0.0f;"]),
        ("", "v = -kHuge;", ["v = 0.0f;"]),
    ],
    "seed-too-near": [
        ("", "v = -INFINITY;", ["v = -1e4f;"]),
        ("", "v = INFINITY;", ["v = 1e4f;"]),
    ],
    "seed-one": [
        (
            "",
            "float sum = 0.0f;\nfor (int k = 0; k < n; ++k) sum += x[k];",
            ["float sum = 1.0f;\nfor (int k = 0; k < n; ++k) sum += x[k];"],
        ),
        ("", "float sum[4] = {};\nsum[0] += v;", ["float sum[4] = {1.0f};\nsum[0] += v;"]),
    ],
    "seed-first-element": [
        (
            "",
            "float sum = 0.0f;\nfor (int k = t; k < n; k += 32) sum += x[k * 2];",
            ["float sum = x[t * 2];\nfor (int k = t; k < n; k += 32) sum += x[k * 2];"],
        ),
    ],
    "stale-accumulator": [
        (
            "",
            "for (int k = 0; k < n; ++k) {\n  acc = 0.0f;\n  acc += x[k];\n}",
            ["for (int k = 0; k < n; ++k) {\n  ;\n  acc += x[k];\n}"],
        ),
    ],
    "clamp-removed": [
        ("", "v = fmaxf(w, 0.0f);", ["v = w;"]),
        ("", "v = fminf(fmaxf(w, -1.0f), 1.0f);", ["v = fmaxf(w, -1.0f);", "v = fminf(w, 1.0f);"]),
        ("", "v = w < 0.0f ? 0.0f : w;", ["v = w;"]),
    ],
    "zero-threshold-shifted": [
        ("", "v = fmaxf(w, 0.0f);", ["v = fmaxf(w, 1e-3f);"]),
        ("", "v = w > 0.0f ? w : v;", ["v = w > 1e-3f ? w : v;"]),
    ],
    "max-nan-policy": [
        ("", "v = fmaxf(v, w + 1.0f);", ["v = (v > (w + 1.0f) ? v : (w + 1.0f));"]),
        ("", "v = v > w ? v : w;", ["v = fmaxf(v, w);"]),
    ],
    "branches-swapped": [
        ("", "v = i < n ? w : 0.0f;", ["v = i < n ? 0.0f : w;"]),
    ],
    "parameter-unread": [
        ("", "y[i] = v * g[i];", ["y[i] = v;"]),
        (
            "",
            "y[i] = fmaf(v, g[i], g[i + n]);",
            ["y[i] = fmaf(v, 1.0f, g[i + n]);", "y[i] = fmaf(v, g[i], 0.0f);"],
        ),
        ("", "float sum = g[i];\nsum += v;", ["float sum = 0.0f;\nsum += v;"]),
        ("", "float scale = g[i];\ny[i] = scale * v;", ["float scale = g[i];\ny[i] = v;"]),
    ],
    "divisor-of-other-extent": [
        ("", "v = acc / (float)n;", ["v = acc / (float)m;"]),
    ],
    "early-exit-on-zero": [
        (
            "",
            "for (int k = 0; k < n; ++k) acc += x[k] * g[k];",
            ["for (int k = 0; k < n; ++k) { if (x[k] == 0.0f) break; acc += x[k] * g[k]; }"],
        ),
    ],
    "shape-shortcut": [
        ("", "v = x[i];\ny[i] = v * w;", ["v = x[i];\ny[i] = n % 2 == 0 ? x[i] : (v * w);"]),
    ],
    "stage-left-out": [
        ("", "acc *= w;", [";"]),
        ("", "acc = v;", [";"]),
    ],
    "update-order-swapped": [
        ("", "w = v - acc;\nacc = v;", ["acc = v;\nw = v - acc;"]),
    ],
    "barrier-removed": [
        ("", "__syncthreads();", [";"]),
    ],
    "barrier-to-warp": [
        ("", "__syncthreads();", ["__syncwarp();"]),
    ],
    "barrier-early": [
        (
            "",
            "tile[t] = v;\nint a = n;\n__syncthreads();",
            ["__syncthreads(); tile[t] = v;\nint a = n;"],
        ),
    ],
    "barrier-late": [
        (
            "",
            "__syncthreads();\nint a = n;\nv = tile[t];",
            ["int a = n;\nv = tile[t]; __syncthreads();"],
        ),
    ],
    "barrier-divergent": [
        ("", "__syncthreads();", ["if (threadIdx.x < 32) __syncthreads();"]),
        (
            "",
            "t = threadIdx.y;\n__syncthreads();",
            [
                "t = threadIdx.y;\nif ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + "
                "threadIdx.x < 32) __syncthreads();"
            ],
        ),
    ],
    "barrier-first-iteration-only": [
        (
            "",
            "for (int k = 1; k < n; ++k) {\n  __syncthreads();\n}",
            ["for (int k = 1; k < n; ++k) {\n  if (k == 1) __syncthreads();\n}"],
        ),
    ],
    "warp-barrier-removed": [
        ("", "__syncwarp();", [";"]),
    ],
    "fence-removed": [
        ("", "__threadfence();", [";"]),
    ],
    "atomic-to-plain": [
        ("", "atomicAdd(&y[i], v);", ["(*(&y[i]) += v);"]),
    ],
    "shuffle-mask-halved": [
        (
            "",
            "v += __shfl_down_sync(0xffffffffu, v, 16);",
            ["v += __shfl_down_sync(0x0000ffffu, v, 16);"],
        ),
    ],
    "shuffle-dropped": [
        ("", "v += __shfl_down_sync(0xffffffffu, v, 16);", ["v += v;"]),
    ],
    "broadcast-replaced-by-local": [
        (
            "",
            "if (t == 0) tile[0] = v;\n__syncthreads();\nw = tile[0];",
            ["if (t == 0) tile[0] = v;\n__syncthreads();\nw = v;"],
        ),
        (
            "",
            "tile[t] = v;\n__syncthreads();\ntile[t] += tile[t + 1];\nw = tile[0];",
            ["tile[t] = v;\n__syncthreads();\ntile[t] += tile[t + 1];\nw = v;"],
        ),
        (
            "",
            "plane[t][i] = v;\n__syncthreads();\nw = plane[0][i];",
            ["plane[t][i] = v;\n__syncthreads();\nw = v;"],
        ),
    ],
    "buffer-not-toggled": [
        ("", "int b = 0;\nb ^= 1;", ["int b = 0;\nb ^= 0;"]),
        ("", "int b = 1 - t;", ["int b = t;"]),
    ],
    "lt-to-le": [
        ("", "if (i < n) y[i] = v;", ["if (i <= n) y[i] = v;"]),
    ],
    "le-to-lt": [
        ("", "if (i <= n) y[i] = v;", ["if (i < n) y[i] = v;"]),
    ],
    "ge-to-gt": [
        ("", "if (i >= n) return;", ["if (i > n) return;"]),
    ],
    "gt-to-ge": [
        ("", "if (i > n) return;", ["if (i >= n) return;"]),
    ],
    "comparison-reversed": [
        ("", "if (i < n && t < m) y[i] = v;", ["if (i > n && t < m) y[i] = v;"]),
    ],
    "guard-dropped": [
        ("", "if (i < n) y[i] = v;", ["if (true) y[i] = v;"]),
    ],
    "return-guard-dropped": [
        ("", "if (i >= n) return;", ["if (false) return;"]),
        (
            "",
            "for (int k = 0; k < n; ++k) {\n  if (k < m) {\n    continue;\n  }\n}",
            ["for (int k = 0; k < n; ++k) {\n  if (false) {\n    continue;\n  }\n}"],
        ),
    ],
    "ternary-guard-dropped": [
        ("", "v = i < n ? x[i] : 0.0f;", ["v = x[i];"]),
        ("", "v = i >= n ? -INFINITY : x[i];", ["v = x[i];"]),
    ],
    "conjunct-dropped": [
        (
            "",
            "if (i < n && t < m && w > v) y[i] = v;",
            [
                "if (i < n && w > v) y[i] = v;",
                "if (t < m && w > v) y[i] = v;",
                "if (i < n && t < m) y[i] = v;",
            ],
        ),
    ],
    "guard-tightened": [
        ("", "if (i < n) y[i] = v;", ["if (i < n - 1) y[i] = v;"]),
        ("", "if (i >= n) return;", ["if (i >= n - 1) return;"]),
    ],
    "bound-of-other-extent": [
        (
            "",
            "if (i < n && t < m) y[i] = v;",
            ["if (i < m && t < m) y[i] = v;", "if (i < n && t < n) y[i] = v;"],
        ),
        (
            "",
            "for (int a = 0; a < n; ++a)\n  for (int b = 0; b < m; ++b) acc += v;",
            [
                "for (int a = 0; a < m; ++a)\n  for (int b = 0; b < m; ++b) acc += v;",
                "for (int a = 0; a < n; ++a)\n  for (int b = 0; b < n; ++b) acc += v;",
            ],
        ),
    ],
    "loop-bound-minus-one": [
        (
            "",
            "for (int k = 0; k < n; ++k) acc += v;",
            ["for (int k = 0; k < n - 1; ++k) acc += v;"],
        ),
        ("", "for (int k = 0; k < 16; ++k) acc += v;", ["for (int k = 0; k < 15; ++k) acc += v;"]),
    ],
    "tile-last-skipped": [
        (
            "",
            "for (int k = t; k < n; k += 32) acc += v;",
            ["for (int k = t; k < n - (32); k += 32) acc += v;"],
        ),
    ],
    "loop-start-plus-one": [
        ("", "for (int k = 0; k < n; ++k) acc += v;", ["for (int k = 1; k < n; ++k) acc += v;"]),
        (
            "",
            "for (int k = t; k < n; k += 32) acc += v;",
            ["for (int k = t + 1; k < n; k += 32) acc += v;"],
        ),
    ],
    "loop-step-doubled": [
        ("", "for (int k = 0; k < n; ++k) acc += v;", ["for (int k = 0; k < n; k += 2) acc += v;"]),
        (
            "",
            "for (int k = t; k < n; k += blockDim.x) acc += v;",
            ["for (int k = t; k < n; k += 2 * (blockDim.x)) acc += v;"],
        ),
    ],
    "extent-capped": [
        (
            "",
            "for (int k = 0; k < n; ++k) acc += v;",
            ["for (int k = 0; k < (n < 128 ? n : 128); ++k) acc += v;"],
        ),
    ],
    "tail-loop-dropped": [
        (
            "",
            "int n4 = n / 4;\nfor (int k = n4 * 4 + t; k < n; ++k) acc += v;",
            ["int n4 = n / 4;\n;"],
        ),
        ("", "for (int k = n & ~3; k < n; ++k) acc += v;", [";"]),
        (
            "",
            "for (int q = t; q < m; ++q) acc += v;\nfor (int k = m * 4 + t; k < n; ++k) acc += w;",
            ["for (int q = t; q < m; ++q) acc += v;\n;"],
        ),
    ],
    "tree-shift-two": [
        (
            "",
            "for (int o = 16; o > 0; o >>= 1) acc += v;",
            ["for (int o = 16; o > 0; o >>= 2) acc += v;"],
        ),
    ],
    "tree-stops-early": [
        (
            "",
            "for (int o = 16; o > 0; o >>= 1) acc += v;",
            ["for (int o = 16; o > 1; o >>= 1) acc += v;"],
        ),
    ],
    "tree-starts-late": [
        (
            "",
            "for (int o = 16; o > 0; o >>= 1) acc += v;",
            ["for (int o = 8; o > 0; o >>= 1) acc += v;"],
        ),
        (
            "",
            "for (int o = blockDim.x / 2; o > 0; o /= 2) acc += v;",
            ["for (int o = (blockDim.x / 2) / 2; o > 0; o /= 2) acc += v;"],
        ),
    ],
    "ceil-to-floor": [
        ("", "int a = (n + 15) / 16;", ["int a = n / 16;"]),
        ("", "int a = (n + m - 1) / m;", ["int a = n / m;"]),
    ],
    "thread-axis-swapped": [
        ("", "int a = threadIdx.x + threadIdx.x;", ["int a = threadIdx.y + threadIdx.x;"]),
        (
            "",
            "int a = threadIdx.x;\nint b = threadIdx.y;",
            [
                "int a = threadIdx.y;\nint b = threadIdx.y;",
                "int a = threadIdx.x;\nint b = threadIdx.x;",
            ],
        ),
    ],
    "block-axis-swapped": [
        ("", "int a = blockIdx.y;", ["int a = blockIdx.x;"]),
    ],
    "block-dim-to-grid-dim": [
        ("", "int a = blockDim.x * 2;", ["int a = gridDim.x * 2;"]),
    ],
    "grid-dim-to-block-dim": [
        ("", "int a = gridDim.x * 2;", ["int a = blockDim.x * 2;"]),
    ],
    "shared-index-plus-one": [
        ("", "v = tile[t];", ["v = tile[t + 1];"]),
        ("", "v = plane[t][i];", ["v = plane[t][i + 1];"]),
    ],
    "shared-store-plus-one": [
        ("", "tile[t] = v;", ["tile[t + 1] = v;"]),
    ],
    "subscript-transposed": [
        ("", "v = plane[t][i];", ["v = plane[i][t];"]),
    ],
    "partner-half-offset": [
        (
            "",
            "for (int o = 16; o > 0; o >>= 1) tile[t] += tile[t + o];",
            ["for (int o = 16; o > 0; o >>= 1) tile[t] += tile[t + o / 2];"],
        ),
    ],
    "warp-size-halved": [
        (
            "",
            "int a = t / 32;\nint b = t & 31;",
            ["int a = t / 16;\nint b = t & 31;", "int a = t / 32;\nint b = t & 15;"],
        ),
        ("", "int a = t % warpSize;", ["int a = t % (warpSize / 2);"]),
    ],
    "shuffle-offset-wrong": [
        (
            "",
            "v += __shfl_down_sync(0xffffffffu, v, n);",
            ["v += __shfl_down_sync(0xffffffffu, v, n / 2);"],
        ),
        ("", "v = __shfl_sync(0xffffffffu, v, 0);", ["v = __shfl_sync(0xffffffffu, v, 0 + 1);"]),
    ],
    "shuffle-width-halved": [
        (
            "",
            "v += __shfl_xor_sync(0xffffffffu, v, 16);",
            ["v += __shfl_xor_sync(0xffffffffu, v, 16, 16);"],
        ),
    ],
    "shuffle-direction-wrong": [
        (
            "",
            "v += __shfl_xor_sync(0xffffffffu, v, 16);",
            ["v += __shfl_down_sync(0xffffffffu, v, 16);"],
        ),
        (
            "",
            "v += __shfl_down_sync(0xffffffffu, v, 16);",
            ["v += __shfl_up_sync(0xffffffffu, v, 16);"],
        ),
    ],
    "division-modulo-swapped": [
        ("", "int a = i / m;", ["int a = i % m;"]),
        ("", "int a = i / m;\nint b = i % m;", ["int a = i % m;\nint b = i % m;"]),
    ],
    "linear-index-transposed": [
        ("", "v = x[i * n + t];", ["v = x[t * n + i];"]),
    ],
    "stride-of-other-extent": [
        ("", "v = x[i * n + t];", ["v = x[i * m + t];"]),
    ],
    "stride-minus-one": [
        ("", "v = x[(i * n + t) * m + 2];", ["v = x[(i * n + t) * (m - 1) + 2];"]),
    ],
    "decode-of-other-extent": [
        ("", "int a = i % n;", ["int a = i % m;"]),
    ],
    "read-plus-one": [
        ("", "v = x[i];", ["v = x[i + 1];"]),
    ],
    "store-plus-one": [
        ("", "y[i] = v;", ["y[i + 1] = v;"]),
    ],
    "read-first-element": [
        ("", "v = g[i];", ["v = g[0];"]),
    ],
    "index-term-dropped": [
        ("", "int a = i + t;", ["int a = i;"]),
        ("", "const float* row = x + i * n;", ["const float* row = x;"]),
    ],
    "index-sign-flipped": [
        ("", "int a = i - m;", ["int a = i + m;"]),
    ],
    "index-factor-dropped": [
        ("", "int a = i * n - m;", ["int a = i - m;"]),
    ],
    "loop-variable-confused": [
        (
            "",
            "for (int a = 0; a < n; ++a)\n  for (int b = 0; b < m; ++b) acc += x[a * m + b];",
            [
                "for (int a = 0; a < n; ++a)\n  for (int b = 0; b < m; ++b) acc += x[a * m + a];",
                "for (int a = 0; a < n; ++a)\n  for (int b = 0; b < m; ++b) acc += x[b * m + b];",
            ],
        ),
    ],
    "index-truncated": [
        ("", "long long a = (long long)i * n;", ["long long a = (int)((long long)i * n);"]),
        ("", "v = x[static_cast<long long>(i) * n];", ["v = x[static_cast<int>(i) * n];"]),
        ("", "v = x[(size_t)i];", ["v = x[(int)i];"]),
    ],
    "store-term-dropped": [
        ("", "y[i * n + t] = v;", ["y[t] = v;"]),
    ],
    "vector-lane-duplicated": [
        ("", "v = q.x + q.y + q.w;", ["v = q.x + q.x + q.w;", "v = q.x + q.y + q.z;"]),
    ],
    "vector-lane-dropped": [
        ("", "v = q.x + q.w;", ["v = q.x + 0.0f;"]),
    ],
    "call-arguments-swapped": [
        (HELPER, "v = blend(v, w);", ["v = blend(w, v);"]),
    ],
    "plus-to-minus": [
        ("", "v = v + w;", ["v = v - w;"]),
    ],
    "minus-to-plus": [
        ("", "v = v - w;", ["v = v + w;"]),
    ],
    "times-to-divide": [
        ("", "v = v * w;", ["v = v / w;"]),
    ],
    "times-to-plus": [
        ("", "v = acc - v * w;", ["v = acc - (v + w);"]),
    ],
    "divide-to-times": [
        ("", "v = v / w;", ["v = v * w;"]),
    ],
    "fma-addend-negated": [
        ("", "v = fmaf(v, w, acc);", ["v = fmaf(v, w, -acc);"]),
    ],
    "fma-factors-added": [
        ("", "v = 2.0f * fmaf(v, w, acc);", ["v = 2.0f * (v + w + acc);"]),
    ],
    "operands-swapped": [
        ("", "v = v - w;", ["v = w - v;"]),
        ("", "v = 1.0f / (v + w);", ["v = (v + w) / 1.0f;"]),
    ],
    "negation-dropped": [
        ("", "v = expf(-w);", ["v = expf(w);"]),
    ],
    "store-negated": [
        ("", "y[i] = v + w;", ["y[i] = -(v + w);"]),
    ],
    "factor-dropped": [
        ("", "v = v * w;", ["v = v;"]),
        ("", "v = v / w;", ["v = v;"]),
        ("", "v = 2.0f * w;", ["v = w;"]),
    ],
    "term-dropped": [
        ("", "v = v + w;", ["v = v;"]),
        ("", "v = fmaf(v, w, acc);", ["v = v * w;"]),
    ],
    "root-dropped": [
        ("", "v = sqrtf(w);", ["v = w;"]),
        ("", "v = acc * rsqrtf(w);", ["v = acc * (1.0f / w);"]),
    ],
    "fabs-dropped": [
        ("", "v = fabsf(w - v);", ["v = (w - v);"]),
    ],
    "compound-scale-inverted": [
        ("", "v *= w;", ["v /= w;"]),
        ("", "v /= w;", ["v *= w;"]),
    ],
    "function-left-out": [
        (ACT, "y[i] = act(v + w);", ["y[i] = (v + w);"]),
        (LEAKY, "v = leaky(w, eps) * 2.0f;", ["v = w * 2.0f;"]),
        ("", "v = tanhf(expf(w));", ["v = expf(w);", "v = tanhf(w);"]),
        (TOTAL, "v = total(acc * w, tile) / n;", ["v = (acc * w) / n;"]),
        (
            "__device__ float4 act4(float4 a) { return a; }\n",
            "y[i] = act4(q).x;",
            ["y[i] = q.x;"],
        ),
    ],
    "function-order-swapped": [
        (ACT, "v = act(w) + g[i];", ["v = act(w + g[i]);"]),
        (
            ACT,
            "v = g[i] - act(w * acc);",
            ["v = act(g[i] - (w * acc));", "v = g[i] - (act(w) * acc);"],
        ),
        (LEAKY, "v = leaky(w + g[i], eps);", ["v = leaky(w, eps) + g[i];"]),
        ("", "v = fmaxf(w * g[i], 0.0f);", ["v = fmaxf(w, 0.0f) * g[i];"]),
        ("", "v = tanhf(w) * (acc + v);", ["v = tanhf(w * (acc + v));"]),
        ("", "v = tanhf(w - (acc + v));", ["v = tanhf(w) - (acc + v);"]),
    ],
    "calls-exchanged": [
        (ACT, "v = act(tanhf(w));", ["v = tanhf(act(w));"]),
        (LEAKY, "v = leaky(fmaxf(w, 0.0f), eps);", ["v = fmaxf(leaky(w, eps), 0.0f);"]),
    ],
    "epilogue-order-swapped": [
        ("", "v += g[i];\nv *= w;", ["v *= w;\nv += g[i];"]),
        (ACT, "v = act(v);\nv += g[i];", ["v += g[i];\nv = act(v);"]),
        ("", "tile[t] *= w;\ntile[t] -= acc;", ["tile[t] -= acc;\ntile[t] *= w;"]),
        ("", "float b = v + g[i];\nb *= w;", ["float b = (v * w) + g[i];"]),
        (ACT, "float b = v * g[i];\nb = act(b);", ["float b = act(v) * g[i];"]),
        ("", "float kept = v;\nv += g[i];", ["v += g[i];\nfloat kept = v;"]),
        (
            "",
            "float kept = q.x * w;\nq.x = q.x + acc;",
            ["q.x = q.x + acc;\nfloat kept = q.x * w;"],
        ),
    ],
    "element-stage-left-out": [
        (
            "",
            "float sums[4] = {};\nfor (int j = 0; j < 4; ++j) sums[j] += g[j];",
            ["float sums[4] = {};\nfor (int j = 0; j < 4; ++j) ;"],
        ),
        (
            ACT,
            "for (int a = 0; a < 8; ++a)\n  for (int b = 0; b < 9; ++b) plane[a][b] = act(plane[a][b]);",
            ["for (int a = 0; a < 8; ++a)\n  for (int b = 0; b < 9; ++b) ;"],
        ),
    ],
    "read-along-other-axis": [
        (
            "",
            HERE + "y[row * n + col] = v + g[col];",
            [HERE + "y[row * n + col] = v + g[row];"],
        ),
        (
            "",
            "int flat = threadIdx.x;\nint c = flat / n % m;\nint w0 = flat % n;\ny[flat] = g[c] + g[n + w0] * x[flat];",
            [
                "int flat = threadIdx.x;\nint c = flat / n % m;\nint w0 = flat % n;\ny[flat] = g[w0] + g[n + w0] * x[flat];"
            ],
        ),
        (
            "",
            HERE + "for (int j = 0; j < 4; ++j) y[row * n + col + j] = g[col + j];",
            [HERE + "for (int j = 0; j < 4; ++j) y[row * n + col + j] = g[row];"],
        ),
        (
            "",
            HERE + "int group = row * m + col / m;\ny[row * n + col] = x[group] * g[col];",
            [
                HERE + "int group = row * m + col / m;\ny[row * n + col] = x[col] * g[col];",
                HERE + "int group = row * m + col / m;\ny[row * n + col] = x[group] * g[row];",
            ],
        ),
    ],
    "read-other-tensor": [
        (
            "",
            "v = x[i] + g[i];\ny[i] = v * x[i];",
            [
                "v = g[i] + g[i];\ny[i] = v * x[i];",
                "v = x[i] + x[i];\ny[i] = v * x[i];",
                "v = x[i] + g[i];\ny[i] = v * g[i];",
            ],
        ),
        (
            "",
            "const float* in = x + n;\nv = in[i] + g[i];",
            [
                "const float* in = x + n;\nv = g[i] + g[i];",
                "const float* in = x + n;\nv = in[i] + in[i];",
            ],
        ),
    ],
    "statistics-of-other-group": [
        (
            PARTS,
            "const int row = blockIdx.x;\nv = parts(x, row, m) / n;",
            ["const int row = blockIdx.x;\nv = parts(x, row > 0 ? row - 1 : row, m) / n;"],
        ),
        (
            "",
            "const float* in = x + blockIdx.x * n;\nfor (int k = t; k < n; k += 32) acc += in[k];",
            [
                "const float* in = x + blockIdx.x * n;\nfor (int k = t; k < n; k += 32) acc += in[k - (blockIdx.x > 0 ? n : 0)];"
            ],
        ),
        (
            "",
            "long long base = (long long)blockIdx.x * n * m;\nfor (int k = 0; k < n; ++k) acc = fmaxf(acc, x[base + k]);",
            [
                "long long base = (long long)blockIdx.x * n * m;\nfor (int k = 0; k < n; ++k) acc = fmaxf(acc, x[base + k - (((long long)blockIdx.x) > 0 ? n * m : 0)]);"
            ],
        ),
        (
            "",
            "const int row = blockIdx.x * 4 + threadIdx.x / 32;\nfor (int k = t; k < n; k += 32) acc += x[row * n + k];",
            [
                "const int row = blockIdx.x * 4 + threadIdx.x / 32;\nfor (int k = t; k < n; k += 32) acc += x[row * n + k - (row > 0 ? n : 0)];"
            ],
        ),
    ],
    "result-fp16": [
        (
            "",
            "float sum = 0.0f;\nfor (int k = 0; k < n; ++k) sum += x[k];\nv = sum + w;\nw = sum;",
            [
                f"float sum = 0.0f;\nfor (int k = 0; k < n; ++k) sum += x[k];\nv = {FP16}(sum) + w;\nw = sum;"
            ],
        ),
        (
            "",
            "float s[2] = {};\nfor (int k = 0; k < n; ++k)\n  for (int j = 0; j < 2; ++j) s[j] += x[k];\nfor (int j = 0; j < 2; ++j) s[j] *= s[j] + w;",
            [
                f"float s[2] = {{}};\nfor (int k = 0; k < n; ++k)\n  for (int j = 0; j < 2; ++j) s[j] += x[k];\nfor (int j = 0; j < 2; ++j) s[j] = {FP16}(s[j]) * (s[j] + w);"
            ],
        ),
    ],
    "result-bf16": [
        (
            "",
            "float sum = 0.0f;\nfor (int k = 0; k < n; ++k) sum += x[k];\nif (sum < v) v = w;\nsum *= w + v;\nv = sum;",
            [
                f"float sum = 0.0f;\nfor (int k = 0; k < n; ++k) sum += x[k];\nif (sum < v) v = w;\nsum = {BF16}(sum) * (w + v);\nv = sum;"
            ],
        ),
        (
            "__device__ void add(float (&s)[2], float a) { s[0] += a; }\n",
            "float s[2] = {};\nfor (int k = 0; k < n; ++k) add(s, x[k]);\ny[i] = s[0] + s[1];",
            [
                f"float s[2] = {{}};\nfor (int k = 0; k < n; ++k) add(s, x[k]);\ny[i] = {BF16}(s[0]) + s[1];"
            ],
        ),
        (
            "",
            "float sum = 0.0f;\nfor (int k = 0; k < n; ++k) sum = fmaf(x[k], w, sum);\nv = tanhf(sum);",
            [
                f"float sum = 0.0f;\nfor (int k = 0; k < n; ++k) sum = fmaf(x[k], w, sum);\nv = tanhf({BF16}(sum));"
            ],
        ),
    ],
}

# rule -> statements in which it must find nothing
NEGATIVES: list[tuple[str, str]] = [
    ("expm1-by-exp", "v = expf(w) - 1.0f;"),
    ("expm1-by-exp", "v = expm1f();"),
    ("log1p-by-log", "v = logf(1.0f + w);"),
    ("log1p-by-log", "v = log1pf(v, w);"),
    ("lt-to-le", "if (v < w) y[i] = v;"),
    ("lt-to-le", "const float* p = x;\nif (p < x + n) y[i] = v;"),
    ("gt-to-ge", "for (int o = 16; o > 0; o >>= 1) acc += v;"),
    ("ge-to-gt", "if (v >= 0.0f) y[i] = v;"),
    ("comparison-reversed", "for (int k = 0; k < n; ++k) acc += v;"),
    ("comparison-reversed", "if (i < 0) return;"),
    ("guard-dropped", "if (t == 0) y[i] = v;"),
    ("guard-dropped", "if (i >= n) return;"),
    ("return-guard-dropped", "if (i < n) y[i] = v;"),
    ("ternary-guard-dropped", "v = w < 0.0f ? 0.0f : w;"),
    ("ternary-guard-dropped", "v = i < n ? x[i] : w;"),
    ("guard-tightened", "if (i < 16) y[i] = v;"),
    ("guard-tightened", "for (int k = 0; k < n; ++k) acc += v;"),
    ("bound-of-other-extent", "if (i < n && t < n) y[i] = v;"),
    ("loop-bound-minus-one", "for (int o = 16; o > 0; o >>= 1) acc += v;"),
    ("loop-step-doubled", "for (int k = 0; k < 4; ++k) acc += v;"),
    ("tile-last-skipped", "for (int k = 0; k < n; ++k) acc += v;"),
    ("extent-capped", "for (int k = 0; k < 256; ++k) acc += v;"),
    ("tail-loop-dropped", "for (int k = i * 4; k < n; ++k) acc += v;"),
    (
        "tail-loop-dropped",
        "for (int q = 0; q < m; ++q) acc += v;\nfor (; i < m * 4; ++i) acc += w;",
    ),
    ("broadcast-replaced-by-local", "tile[t] = v;\nw = tile[t];"),
    ("broadcast-replaced-by-local", "w = tile[0];\ntile[t] = v;"),
    ("broadcast-replaced-by-local", "tile[0] = v;\nw = tile[0];"),
    ("broadcast-replaced-by-local", "y[t] = v;\nw = y[0];"),
    ("tree-shift-two", "v = i >> 1;"),
    ("tree-stops-early", "for (int k = n; k > 0; --k) acc += v;"),
    ("ceil-to-floor", "int a = (n + 16) / 16;"),
    ("ceil-to-floor", "v = (v + 15.0f) / 16.0f;"),
    ("thread-axis-swapped", "int a = blockIdx.x;"),
    ("shared-index-plus-one", "v = x[i];"),
    ("shared-index-plus-one", "tile[t] = v;"),
    ("subscript-transposed", "v = plane[t][t];"),
    ("partner-half-offset", "for (int k = 0; k < n; ++k) tile[t] += tile[t + k];"),
    ("warp-size-halved", "int a = t / 16;"),
    ("division-modulo-swapped", "int a = (n + 15) / 16;"),
    ("division-modulo-swapped", "v = v / w;"),
    ("linear-index-transposed", "int a = blockIdx.x * blockDim.x + threadIdx.x;"),
    ("stride-of-other-extent", "v = x[i * 4 + t];"),
    ("read-plus-one", "y[i] = v;"),
    ("read-plus-one", "v = tile[t];"),
    ("store-plus-one", "v = x[i];"),
    ("read-first-element", "v = g[0];"),
    ("index-term-dropped", "int a = i + 1;"),
    ("index-term-dropped", "int a = (n + m - 1) / m;"),
    ("index-sign-flipped", "v = v - w;"),
    ("index-factor-dropped", "int a = i * 4 + t;"),
    ("loop-variable-confused", "for (int a = 0; a < n; ++a) acc += x[a];"),
    ("index-truncated", "int a = (int)i;"),
    ("vector-lane-dropped", "q.w = v;"),
    ("plus-to-minus", "int a = n + m;"),
    ("plus-to-minus", "const float* p = x + n;"),
    ("times-to-divide", "int a = n * m;"),
    ("divide-to-times", "int a = n / m;"),
    ("negation-dropped", "v = -1.0f;"),
    ("negation-dropped", "v = -INFINITY;"),
    ("store-negated", "tile[t] = v;"),
    ("store-negated", "y[i] = 0.0f;"),
    ("accumulator-overwritten", "int a = 0;\na += n;"),
    ("max-to-min", "v = maximum(v, w);"),
    ("float-comparison-strictness", "if (i > n) y[i] = v;"),
    ("seed-zero", "v = -1.0f;"),
    ("seed-one", "float sum = 0.0f;\nsum = v;"),
    (
        "seed-first-element",
        "float sum = 0.0f;\nfor (int k = 0; k < n; ++k) { float d = v; sum += d; }",
    ),
    ("stale-accumulator", "v = 0.0f;"),
    ("clamp-removed", "v = fmaxf(v, w);"),
    ("clamp-removed", "int a = max(n, 0);"),
    ("max-nan-policy", "int a = max(n, m);"),
    ("branches-swapped", "int a = i < n ? n : m;"),
    ("parameter-unread", "acc += v * g[i];"),
    ("early-exit-on-zero", "acc += v * w;"),
    ("early-exit-on-zero", "for (int k = 0; k < n; ++k) {\n  acc += v * w;\n  __syncthreads();\n}"),
    ("shape-shortcut", "y[i] = v;"),
    ("stage-left-out", "v = w;"),
    ("update-order-swapped", "w = v;\nacc = v;"),
    ("barrier-early", "int a = n;\n__syncthreads();"),
    ("barrier-late", "__syncthreads();\nreturn;"),
    ("barrier-first-iteration-only", "__syncthreads();"),
    ("atomic-to-plain", "v = w;"),
    ("accumulate-fp16", "int a = 0;\na += n;"),
    ("accumulate-fp16", "v = v * w;"),
    ("store-fp16", "tile[t] = v;"),
    ("store-fp16", "y[i] = 0.0f;"),
    ("stage-fp16", "y[i] = v;"),
    ("load-fp16", "tile[t] = i < n ? x[i] : 0.0f;"),
    ("load-fp16", "y[i] = v;"),
    ("operands-tf32", "acc += v;"),
    ("fast-divide", "int a = n / m;"),
    ("constant-off-1e-2", "int a = 3;\nv = 0.0f;\nw = 1e-5f;\nacc = -1e30f;"),
    ("epsilon-removed", "v = w + 0.5f;"),
    ("epsilon-outside-root", "v = w + eps;"),
    ("max-subtraction-removed", "v = expf(w);"),
    ("max-subtraction-removed", "v = expf(w - 1.0f);"),
    ("variance-one-pass", "v += w * w;"),
    ("welford-delta-reused", "float d = v - w;\nacc += d * d;"),
    ("divisor-minus-one", "v = acc / w;"),
    ("kahan-dropped", "w = (v - acc) - v;"),
    ("function-left-out", "v = sqrtf(w);"),
    ("function-left-out", "v = fmaxf(v, w);"),
    ("function-order-swapped", "v = 0.5f * tanhf(w);"),
    ("function-order-swapped", "v = w * tanhf(w);"),
    ("function-order-swapped", "v = tanhf(w) + expf(acc);"),
    ("function-order-swapped", "v = sqrtf(w + acc);"),
    ("calls-exchanged", "v = fminf(fmaxf(w, 0.0f), 1.0f);"),
    ("calls-exchanged", "v = expf(expf(w));"),
    ("epilogue-order-swapped", "v += w;\nv -= acc;"),
    ("epilogue-order-swapped", "v *= w;\nacc += v;"),
    ("epilogue-order-swapped", "float kept = v;\nv += kept;"),
    ("epilogue-order-swapped", "float kept = w;\nv += g[i];"),
    ("epilogue-order-swapped", "float b = v + g[i];\nb -= w;"),
    ("epilogue-order-swapped", "float b = v + 1.0f;\nb *= w;"),
    ("function-left-out", "v = maximum(v, w);"),
    ("element-stage-left-out", "for (int k = 0; k < n; ++k) tile[t] += x[k];"),
    ("element-stage-left-out", "for (int o = 16; o > 0; o >>= 1) tile[t] += tile[t + o];"),
    ("element-stage-left-out", "tile[t] += v * w;"),
    ("element-stage-left-out", "v += w;"),
    ("read-along-other-axis", "int at = threadIdx.x;\nint c = at / n;\ny[at] = x[at] * c;"),
    ("read-along-other-axis", HERE + "v = x[row * n + col];\ny[row * n + col] = v;"),
    ("read-along-other-axis", HERE + "int lane = col % 32;\ny[col * n] = g[col] + tile[lane];"),
    ("read-other-tensor", "v = x[i] + g[i];"),
    ("read-other-tensor", "v = x[i] + g[t];\nw = x[i];"),
    ("statistics-of-other-group", "const float* in = x + blockIdx.x * n;\nv = in[t];"),
    (
        "statistics-of-other-group",
        "const float* in = x + blockIdx.x * n;\nfor (int k = 0; k < n; ++k) acc += in[k] * g[k];",
    ),
    (
        "statistics-of-other-group",
        "int at = blockIdx.x * blockDim.x + t;\nfor (int k = 0; k < n; ++k) acc += x[at + k];",
    ),
    (
        "statistics-of-other-group",
        "int at = blockIdx.x * 32 + threadIdx.x;\nfor (int k = 0; k < n; ++k) acc += x[at * n + k];",
    ),
    (
        "statistics-of-other-group",
        "for (int k = 0; k < n; ++k) acc += x[blockIdx.x * 64 + k];",
    ),
    (
        "statistics-of-other-group",
        "for (int k = 0; k < n; ++k) {\n  const int at = blockIdx.x + k;\n  acc += x[at * n];\n}",
    ),
    ("result-fp16", "float sum = w;\nsum += v;\nv = sum;"),
    ("result-fp16", "float sum = w;\nfor (int k = 0; k < n; ++k) {\n  sum += v;\n  w = sum;\n}"),
]
