// C = A B with short sums: all of k fits into (dynamic) shared memory, so that a block stages its
// 32 rows of A and 32 columns of B once, behind one barrier. 256 threads, 2 x 2 outputs each.

constexpr int kTile = 32;
constexpr int kThreads = 256;

__global__ void matmul_whole_k(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ c, int m, int n, int k) {
    extern __shared__ float staged[];
    const int stride_a = k + 1;  // rows of A start in different banks
    float* rows_a = staged;
    float* cols_b = staged + kTile * stride_a;

    const int tid = threadIdx.x;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;

    for (int i = tid; i < kTile * k; i += kThreads) {
        const int row = i / k;
        const int at = i % k;
        rows_a[row * stride_a + at] = first_row + row < m ? a[(first_row + row) * k + at] : 0.0f;
    }
    for (int i = tid; i < k * kTile; i += kThreads) {
        const int at = i / kTile;
        const int col = i % kTile;
        cols_b[i] = first_col + col < n ? b[at * n + first_col + col] : 0.0f;
    }
    __syncthreads();

    const int tx = tid % 16;
    const int ty = tid / 16;
    float c00 = 0.0f, c01 = 0.0f, c10 = 0.0f, c11 = 0.0f;
    for (int at = 0; at < k; ++at) {
        const float a0 = rows_a[ty * stride_a + at];
        const float a1 = rows_a[(ty + 16) * stride_a + at];
        const float b0 = cols_b[at * kTile + tx];
        const float b1 = cols_b[at * kTile + tx + 16];
        c00 += a0 * b0;
        c01 += a0 * b1;
        c10 += a1 * b0;
        c11 += a1 * b1;
    }

    // C holds 2^30 elements by contract.
    const int row = first_row + ty;
    const int col = first_col + tx;
    float* out = c + static_cast<long long>(row) * n + col;
    const bool second_row = row + 16 < m;
    const bool second_col = col + 16 < n;
    if (row < m && col < n) {
        out[0] = c00;
    }
    if (row < m && second_col) {
        out[16] = c01;
    }
    if (second_row && col < n) {
        out[16ll * n] = c10;
    }
    if (second_row && second_col) {
        out[16ll * n + 16] = c11;
    }
}
