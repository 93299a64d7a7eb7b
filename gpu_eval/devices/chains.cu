// Sums in the order of their terms; compiled together with `trees.cu` and `running.cu`.

// Terms that are loaded before any of them is added: what hides the latency of memory.
#define AHEAD 64
#define TILE 2048
// Chains of a block along each dimension where they are tiled, and terms that it loads at a time.
#define SIDE 64
#define DEPTH 16

struct Terms {
    const float* left;   // (count, m)
    const float* right;  // (count, n), or null: the terms are those of `left`
    long long m, n;
};

static __device__ __forceinline__ float term(const Terms& t, long long k, long long i, long long j)
{
    const float a = t.left[k * t.m + i];
    return t.right ? __fmul_rn(a, t.right[k * t.n + j]) : a;
}

// One chain for each output and each part (blockIdx.y): starts, steps and lengths of the parts.
extern "C" __global__ void chain(
    const float* left, const float* right, const long long* parts, float* out,
    long long m, long long n)
{
    const Terms t = {left, right, m, n};
    const long long* part = parts + 3 * blockIdx.y;
    const long long start = part[0], step = part[1], count = part[2];
    const long long o = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= m * n) return;
    const long long i = o / n, j = o % n;
    float sum = term(t, start, i, j);
    long long done = 1;
    for (; done + AHEAD <= count; done += AHEAD) {
        float next[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) next[u] = term(t, start + (done + u) * step, i, j);
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) sum = __fadd_rn(sum, next[u]);
    }
    for (; done < count; ++done) sum = __fadd_rn(sum, term(t, start + done * step, i, j));
    out[blockIdx.y * m * n + o] = sum;
}

// The same for few and long chains: a block for each, whose first thread adds what the others load.
extern "C" __global__ void long_chain(
    const float* left, const float* right, const long long* parts, float* out,
    long long m, long long n)
{
    __shared__ float tiles[2][TILE];
    const Terms t = {left, right, m, n};
    const long long* part = parts + 3 * blockIdx.y;
    const long long start = part[0], step = part[1], count = part[2];
    const long long o = blockIdx.x;
    const long long i = o / n, j = o % n, loaders = blockDim.x - 32;
    float sum = 0.0f;
    for (long long u = threadIdx.x; u < TILE && u < count; u += blockDim.x)
        tiles[0][u] = term(t, start + u * step, i, j);
    __syncthreads();
    for (long long first = 0; first < count; first += TILE) {
        const float* now = tiles[(first / TILE) & 1];
        float* next = tiles[(first / TILE + 1) & 1];
        const long long coming = first + TILE;
        if (threadIdx.x >= 32) {
            for (long long u = threadIdx.x - 32; u < TILE && coming + u < count; u += loaders)
                next[u] = term(t, start + (coming + u) * step, i, j);
        } else if (threadIdx.x == 0) {
            const int length = count - first < TILE ? (int)(count - first) : TILE;
            int u = 0;
            if (first == 0) sum = now[u++];
            for (; u + 32 <= length; u += 32) {
#pragma unroll
                for (int v = 0; v < 32; ++v) sum = __fadd_rn(sum, now[u + v]);
            }
            for (; u < length; ++u) sum = __fadd_rn(sum, now[u]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.y * m * n + o] = sum;
}

// The same for many chains of outer products: a block has SIDE x SIDE of them, a thread 16, so that
// what is loaded once is multiplied by many.
extern "C" __global__ void tile_chain(
    const float* left, const float* right, const long long* parts, float* out,
    long long m, long long n)
{
    __shared__ float lefts[DEPTH][SIDE], rights[DEPTH][SIDE];
    const long long* part = parts + 3 * blockIdx.y;
    const long long start = part[0], step = part[1], count = part[2];
    const long long across = (n + SIDE - 1) / SIDE;
    const long long top = blockIdx.x / across * SIDE, side = blockIdx.x % across * SIDE;
    const int row = threadIdx.x / 16, column = threadIdx.x % 16;
    float sums[4][4];
#pragma unroll
    for (int u = 0; u < 16; ++u) sums[u / 4][u % 4] = -0.0f;  // whose sum with any x is x
    for (long long first = 0; first < count; first += DEPTH) {
        const int length = count - first < DEPTH ? (int)(count - first) : DEPTH;
        for (int u = threadIdx.x; u < length * SIDE; u += blockDim.x) {
            const int k = u / SIDE, x = u % SIDE;
            const long long at = start + (first + k) * step;
            lefts[k][x] = top + x < m ? left[at * m + top + x] : 0.0f;
            rights[k][x] = side + x < n ? right[at * n + side + x] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < length; ++k) {
            float a[4], b[4];
#pragma unroll
            for (int u = 0; u < 4; ++u) {
                a[u] = lefts[k][row + 16 * u];
                b[u] = rights[k][column + 16 * u];
            }
#pragma unroll
            for (int u = 0; u < 16; ++u)
                sums[u / 4][u % 4] =
                    __fadd_rn(sums[u / 4][u % 4], __fmul_rn(a[u / 4], b[u % 4]));
        }
        __syncthreads();
    }
    for (int u = 0; u < 16; ++u) {
        const long long i = top + row + 16 * (u / 4), j = side + column + 16 * (u % 4);
        if (i < m && j < n) out[(blockIdx.y * m + i) * n + j] = sums[u / 4][u % 4];
    }
}
