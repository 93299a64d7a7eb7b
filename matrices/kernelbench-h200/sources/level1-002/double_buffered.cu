// C = A B, row-major, with two buffers in shared memory: while a 32 x 8 and an 8 x 32 tile are
// multiplied, the next ones are on their way through registers. One barrier a step. 256 threads
// make 32 x 32 outputs, 2 x 2 each, whose rows and columns lie 16 apart.

constexpr int kTile = 32;
constexpr int kTileK = 8;
constexpr int kHalf = kTile / 2;

__device__ __forceinline__ float element(const float* __restrict__ matrix, int row, int col,
                                         int rows, int cols) {
    return row < rows && col < cols ? matrix[row * cols + col] : 0.0f;
}

__global__ void matmul_double_buffered(const float* __restrict__ a, const float* __restrict__ b,
                                       float* __restrict__ c, int m, int n, int k) {
    __shared__ float tiles_a[2][kTileK][kTile + 1];
    __shared__ float tiles_b[2][kTileK][kTile];

    const int tid = threadIdx.x;
    const int tx = tid % kHalf;
    const int ty = tid / kHalf;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    // Each thread brings one element of A and one of B a step.
    const int a_row = tid / kTileK;
    const int a_k = tid % kTileK;
    const int b_k = tid / kTile;
    const int b_col = tid % kTile;

    tiles_a[0][a_k][a_row] = element(a, first_row + a_row, a_k, m, k);
    tiles_b[0][b_k][b_col] = element(b, b_k, first_col + b_col, k, n);
    __syncthreads();

    float acc[2][2] = {};
    int current = 0;
    for (int k0 = 0; k0 < k; k0 += kTileK) {
        const bool more = k0 + kTileK < k;
        float next_a = 0.0f;
        float next_b = 0.0f;
        if (more) {
            next_a = element(a, first_row + a_row, k0 + kTileK + a_k, m, k);
            next_b = element(b, k0 + kTileK + b_k, first_col + b_col, k, n);
        }

#pragma unroll
        for (int kk = 0; kk < kTileK; ++kk) {
            const float a0 = tiles_a[current][kk][ty];
            const float a1 = tiles_a[current][kk][ty + kHalf];
            const float b0 = tiles_b[current][kk][tx];
            const float b1 = tiles_b[current][kk][tx + kHalf];
            acc[0][0] += a0 * b0;
            acc[0][1] += a0 * b1;
            acc[1][0] += a1 * b0;
            acc[1][1] += a1 * b1;
        }

        if (more) {
            current ^= 1;
            tiles_a[current][a_k][a_row] = next_a;
            tiles_b[current][b_k][b_col] = next_b;
            __syncthreads();
        }
    }

    for (int i = 0; i < 2; ++i) {
        const int row = first_row + ty + i * kHalf;
        for (int j = 0; j < 2; ++j) {
            const int col = first_col + tx + j * kHalf;
            if (row < m && col < n) {
                c[row * n + col] = acc[i][j];
            }
        }
    }
}
