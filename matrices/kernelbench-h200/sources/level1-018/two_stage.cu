// C = A^T B^T with A stored (k, m) and B stored (n, k), in two kernels: B is transposed into a
// workspace, tile by tile through shared memory; then both factors lie as the product reads them. A
// thread of the product makes 2 x 2 outputs, and a block of 64 threads 16 x 16.

constexpr int kSquare = 32;
constexpr int kLines = 4;
constexpr int kTile = 16;
constexpr int kTileK = 16;
constexpr int kSide = 8;

// in is (rows, cols), out is (cols, rows).
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int rows,
                          int cols) {
    __shared__ float square[kSquare][kSquare + 1];

    const int in_col = blockIdx.x * kSquare + threadIdx.x;
    for (int i = threadIdx.y; i < kSquare; i += kLines) {
        const int in_row = blockIdx.y * kSquare + i;
        if (in_row < rows && in_col < cols) {
            square[i][threadIdx.x] = in[static_cast<long long>(in_row) * cols + in_col];
        }
    }
    __syncthreads();
    const int out_col = blockIdx.y * kSquare + threadIdx.x;
    for (int i = threadIdx.y; i < kSquare; i += kLines) {
        const int out_row = blockIdx.x * kSquare + i;
        if (out_row < cols && out_col < rows) {
            out[static_cast<long long>(out_row) * rows + out_col] = square[threadIdx.x][i];
        }
    }
}

__global__ void matmul_k_major(const float* __restrict__ a, const float* __restrict__ bt,
                               float* __restrict__ c, int m, int n, int k) {
    __shared__ float tile_a[kTileK][kTile];
    __shared__ float tile_b[kTileK][kTile];

    const int tx = threadIdx.x % kSide;
    const int ty = threadIdx.x / kSide;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;

    float acc[2][2] = {};
    for (int k0 = 0; k0 < k; k0 += kTileK) {
        for (int i = threadIdx.x; i < kTileK * kTile; i += kSide * kSide) {
            const int s = i / kTile;
            const int q = i % kTile;
            const bool term = k0 + s < k;
            tile_a[s][q] = term && row0 + q < m ? a[(k0 + s) * m + row0 + q] : 0.0f;
            tile_b[s][q] = term && col0 + q < n ? bt[(k0 + s) * n + col0 + q] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < kTileK; ++s) {
            const float a0 = tile_a[s][ty];
            const float a1 = tile_a[s][ty + kSide];
            const float b0 = tile_b[s][tx];
            const float b1 = tile_b[s][tx + kSide];
            acc[0][0] += a0 * b0;
            acc[0][1] += a0 * b1;
            acc[1][0] += a1 * b0;
            acc[1][1] += a1 * b1;
        }
        __syncthreads();
    }

    const int row = row0 + ty;
    const int col = col0 + tx;
    float* out = c + static_cast<long long>(row) * n + col;
    if (row < m) {
        if (col < n) {
            out[0] = acc[0][0];
        }
        if (col + kSide < n) {
            out[kSide] = acc[0][1];
        }
    }
    if (row + kSide < m) {
        out += static_cast<long long>(kSide) * n;
        if (col < n) {
            out[0] = acc[1][0];
        }
        if (col + kSide < n) {
            out[kSide] = acc[1][1];
        }
    }
}
