// C = A B with A tall, B wide and few terms: a block stages all terms of 16 rows of A in (dynamic)
// shared memory once, and then walks over C's columns, 32 at a time. Four warps take four rows
// each, a lane one column, so that loads of B and stores are coalesced and A is broadcast.

constexpr int kRows = 16;
constexpr int kCols = 32;
constexpr int kWarps = 4;
constexpr int kOwnRows = kRows / kWarps;

__global__ void skinny_strips(const float* __restrict__ a, const float* __restrict__ b,
                              float* __restrict__ c, int m, int n) {
    extern __shared__ float rows_a[];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_row = blockIdx.x * kRows;
    const int rows = min(kRows, m - first_row);

    // The rows are neighbours in memory, too.
    for (int i = warp * kCols + lane; i < kRows * n; i += kWarps * kCols) {
        rows_a[i] = i < rows * n ? a[first_row * n + i] : 0.0f;
    }
    __syncthreads();

    const float* own_a = rows_a + warp * kOwnRows * n;
    for (int base = blockIdx.y * kCols; base < m; base += gridDim.y * kCols) {
        const int col = base + lane;
        if (col >= m) {
            continue;
        }
        float acc[kOwnRows] = {};
        for (int at = 0; at < n; ++at) {
            const float factor = b[at * m + col];
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                acc[i] += own_a[i * n + at] * factor;
            }
        }
#pragma unroll
        for (int i = 0; i < kOwnRows; ++i) {
            const int row = warp * kOwnRows + i;
            if (row < rows) {
                c[static_cast<long long>(first_row + row) * m + col] = acc[i];
            }
        }
    }
}
