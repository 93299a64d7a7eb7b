// Pairwise sums of what `chains.cu` calls terms.

// The pairwise sum of `count` terms from `first` on; `last`, if any, is the sum of what follows.
static __device__ __forceinline__ float pairwise(
    const Terms& t, long long first, long long count, long long i, long long j,
    const float* last = nullptr)
{
    float partial[80];
    int top = 0;
    // Whole subtrees of AHEAD terms in registers, then their sums, then what is left over.
    const long long blocks = count / AHEAD;
    for (long long b = 0; b < blocks; ++b) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = term(t, first + b * AHEAD + u, i, j);
#pragma unroll
        for (int width = AHEAD / 2; width > 0; width /= 2)
#pragma unroll
            for (int u = 0; u < width; ++u) next[u] = __fadd_rn(next[2 * u], next[2 * u + 1]);
        float value = next[0];
        for (long long bits = b; bits & 1; bits >>= 1) value = __fadd_rn(partial[--top], value);
        partial[top++] = value;
    }
    for (long long k = blocks * AHEAD; k < count; ++k) {
        float value = term(t, first + k, i, j);
        for (long long bits = k - blocks * AHEAD; bits & 1; bits >>= 1)
            value = __fadd_rn(partial[--top], value);
        partial[top++] = value;
    }
    float total = last ? *last : partial[--top];
    while (top > 0) total = __fadd_rn(partial[--top], total);
    return total;
}

// Each part (blockIdx.y) holds `width` terms, a power of two, the last one what is left.
extern "C" __global__ void tree(
    const float* left, const float* right, float* out, long long m, long long n, long long count,
    long long width)
{
    const Terms t = {left, right, m, n};
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= m * n) return;
    const long long first = blockIdx.y * width;
    const long long length = count - first < width ? count - first : width;
    out[blockIdx.y * m * n + o] = pairwise(t, first, length, o / n, o % n);
}

// The sums of whole parts are the leaves of a tree; the rest comes last, whatever its depth.
extern "C" __global__ void treetop(
    const float* sums, float* out, long long outputs, long long whole, long long rest)
{
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= outputs) return;
    const Terms t = {sums, nullptr, outputs, 1};
    out[o] = pairwise(t, 0, whole, o, 0, rest ? sums + whole * outputs + o : nullptr);
}
