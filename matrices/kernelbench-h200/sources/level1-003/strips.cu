// A batch of products, one batch entry a grid layer: 128 threads make a 32 x 16 tile of C, each a
// strip of four outputs in one column, so that a value of B serves four products.

constexpr int kTileM = 32;
constexpr int kTileN = 16;
constexpr int kTileK = 16;
constexpr int kStrip = 4;
constexpr int kThreads = 128;

__global__ void bmm_strips(const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ c, int m, int n, int k) {
    __shared__ float tile_a[kTileM][kTileK + 1];
    __shared__ float tile_b[kTileK][kTileN];

    const long long entry = blockIdx.z;
    a += entry * m * k;
    b += entry * k * n;
    c += entry * m * n;

    const int tid = threadIdx.x;
    const int first_row = blockIdx.y * kTileM;
    const int first_col = blockIdx.x * kTileN;
    const int strip_row = (tid / kTileN) * kStrip;
    const int own_col = tid % kTileN;

    float acc[kStrip] = {0.0f, 0.0f, 0.0f, 0.0f};
    const int steps = (k + kTileK - 1) / kTileK;
    for (int step = 0; step < steps; ++step) {
        const int k0 = step * kTileK;
        for (int i = tid; i < kTileM * kTileK; i += kThreads) {
            const int row = i / kTileK;
            const int at = i % kTileK;
            const bool inside = first_row + row < m && k0 + at < k;
            tile_a[row][at] = inside ? a[(first_row + row) * k + k0 + at] : 0.0f;
        }
        for (int i = tid; i < kTileK * kTileN; i += kThreads) {
            const int at = i / kTileN;
            const int col = i % kTileN;
            const bool inside = k0 + at < k && first_col + col < n;
            tile_b[at][col] = inside ? b[(k0 + at) * n + first_col + col] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int kk = 0; kk < kTileK; ++kk) {
            const float factor = tile_b[kk][own_col];
#pragma unroll
            for (int i = 0; i < kStrip; ++i) {
                acc[i] = fmaf(tile_a[strip_row + i][kk], factor, acc[i]);
            }
        }
        __syncthreads();
    }

    const int col = first_col + own_col;
    if (col >= n) {
        return;
    }
    for (int i = 0; i < kStrip; ++i) {
        const int row = first_row + strip_row + i;
        if (row < m) {
            c[row * n + col] = acc[i];
        }
    }
}
