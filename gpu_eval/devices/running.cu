// Running sums and moments: each step waits for the one before.

extern "C" __global__ void scan(
    const float* left, const float* start, float* out, long long m, long long count)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float sum = start ? __fadd_rn(start[i], left[i]) : left[i];
    out[i] = sum;
    for (long long k = 1; k < count; k += AHEAD) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = k + u < count ? left[(k + u) * m + i] : 0.0f;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            if (k + u >= count) break;
            sum = __fadd_rn(sum, next[u]);
            out[(k + u) * m + i] = sum;
        }
    }
}

// Every prefix of every row anew, from its last term back to the first.
extern "C" __global__ void backward(
    const float* x, float* out, long long rows, long long columns)
{
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= rows * columns) return;
    const long long j = o % columns;
    float sum = x[o];
    long long done = 1;
    for (; done + 16 <= j + 1; done += 16) {
        float next[16];
#pragma unroll
        for (int u = 0; u < 16; ++u) next[u] = x[o - done - u];
#pragma unroll
        for (int u = 0; u < 16; ++u) sum = __fadd_rn(sum, next[u]);
    }
    for (; done <= j; ++done) sum = __fadd_rn(sum, x[o - done]);
    out[o] = sum;
}

// delta / count, rounded once, where `inverse` is 1 / count rounded once (Markstein): a division by
// itself takes four times as long, and a chain waits for each. What may underflow on the way, and
// what is not finite, is divided.
static __device__ __forceinline__ float divided(float delta, float count, float inverse)
{
    const float guess = __fmul_rn(delta, inverse);
    const float size = fabsf(guess);
    if (!(size > 1e-30f && size < 1e30f)) return __fdiv_rn(delta, count);
    const float near = __fmaf_rn(__fmaf_rn(-guess, count, delta), inverse, guess);
    return __fmaf_rn(__fmaf_rn(-near, count, delta), inverse, near);
}

extern "C" __global__ void welford(
    const float* left, float* mean_out, float* m2_out, long long m, long long count)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    float mean = 0.0f, m2 = 0.0f;
    for (long long k = 0; k < count; k += AHEAD) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = k + u < count ? left[(k + u) * m + i] : 0.0f;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            if (k + u >= count) break;
            const float delta = __fadd_rn(next[u], -mean);
            const float seen = (float)(k + u + 1);
            mean = __fadd_rn(mean, divided(delta, seen, __frcp_rn(seen)));
            m2 = __fadd_rn(m2, __fmul_rn(delta, __fadd_rn(next[u], -mean)));
        }
    }
    mean_out[i] = mean;
    m2_out[i] = m2;
}

extern "C" __global__ void long_welford(
    const float* left, float* mean_out, float* m2_out, long long m, long long count)
{
    __shared__ float tiles[2][TILE], inverses[2][TILE];
    const long long i = blockIdx.x, loaders = blockDim.x - 32;
    float mean = 0.0f, m2 = 0.0f;
    for (long long u = threadIdx.x; u < TILE && u < count; u += blockDim.x) {
        tiles[0][u] = left[u * m + i];
        inverses[0][u] = __frcp_rn((float)(u + 1));
    }
    __syncthreads();
    for (long long first = 0; first < count; first += TILE) {
        const float* now = tiles[(first / TILE) & 1];
        float* next = tiles[(first / TILE + 1) & 1];
        const long long coming = first + TILE;
        if (threadIdx.x >= 32) {
            float* inverse = inverses[(first / TILE + 1) & 1];
            for (long long u = threadIdx.x - 32; u < TILE && coming + u < count; u += loaders) {
                next[u] = left[(coming + u) * m + i];
                inverse[u] = __frcp_rn((float)(coming + u + 1));
            }
        } else if (threadIdx.x == 0) {
            const int length = count - first < TILE ? (int)(count - first) : TILE;
#pragma unroll 4
            for (int u = 0; u < length; ++u) {
                const float value = now[u];
                const float delta = __fadd_rn(value, -mean);
                const float seen = (float)(first + u + 1);
                mean = __fadd_rn(mean, divided(delta, seen, inverses[(first / TILE) & 1][u]));
                m2 = __fadd_rn(m2, __fmul_rn(delta, __fadd_rn(value, -mean)));
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) { mean_out[i] = mean; m2_out[i] = m2; }
}
