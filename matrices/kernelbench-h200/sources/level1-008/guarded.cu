// C = A B where no extent is a multiple of anything: 256 threads make a 32 x 32 tile, 2 x 2 outputs
// each, and every load from memory and every store is checked against the matrices' edges.

constexpr int kTile = 32;
constexpr int kTileK = 16;
constexpr int kThreads = 256;
constexpr int kSide = 16;

__global__ void matmul_guarded(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ c, int m, int n, int k) {
    __shared__ float tile_a[kTile][kTileK + 1];
    __shared__ float tile_b[kTileK][kTile + 1];

    const int tx = threadIdx.x % kSide;
    const int ty = threadIdx.x / kSide;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;

    float acc[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
    for (int k0 = 0; k0 < k; k0 += kTileK) {
#pragma unroll
        for (int part = 0; part < kTile * kTileK / kThreads; ++part) {
            const int i = part * kThreads + threadIdx.x;
            const int a_row = row0 + i / kTileK;
            const int a_col = k0 + i % kTileK;
            float value = 0.0f;
            if (a_row < m && a_col < k) {
                value = a[static_cast<long long>(a_row) * k + a_col];
            }
            tile_a[i / kTileK][i % kTileK] = value;

            const int b_row = k0 + i / kTile;
            const int b_col = col0 + i % kTile;
            value = 0.0f;
            if (b_row < k && b_col < n) {
                value = b[static_cast<long long>(b_row) * n + b_col];
            }
            tile_b[i / kTile][i % kTile] = value;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kTileK; ++kk) {
            const float a0 = tile_a[2 * ty][kk];
            const float a1 = tile_a[2 * ty + 1][kk];
            const float b0 = tile_b[kk][2 * tx];
            const float b1 = tile_b[kk][2 * tx + 1];
            acc[0][0] += a0 * b0;
            acc[0][1] += a0 * b1;
            acc[1][0] += a1 * b0;
            acc[1][1] += a1 * b1;
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; ++i) {
        const int row = row0 + 2 * ty + i;
        if (row >= m) {
            continue;
        }
        float* row_out = c + static_cast<long long>(row) * n;
        for (int j = 0; j < 2; ++j) {
            const int col = col0 + 2 * tx + j;
            if (col < n) {
                row_out[col] = acc[i][j];
            }
        }
    }
}
