// A four-dimensional tensor times a matrix along its last dimension; all others together are rows.
// 64 threads make 32 x 16 outputs, 4 x 2 each, whose rows and columns lie 8 apart. Both
// tiles are read from memory four elements at a time.

#include "gemm_load.cuh"
#include "gemm_fragment.cuh"

constexpr int kTileM = 32;
constexpr int kTileN = 16;
constexpr int kTileK = 16;
constexpr int kRows = 4;
constexpr int kCols = 2;
constexpr int kSide = 8;

__global__ void matmul4d_flattened(const float* __restrict__ a, const float* __restrict__ b,
                                   float* __restrict__ c, int rows, int cols, int depth) {
    __shared__ float tile_a[kTileM][kTileK + 1];
    __shared__ float tile_b[kTileK][kTileN + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kSide + tx;
    const int row0 = blockIdx.y * kTileM;
    const int col0 = blockIdx.x * kTileN;

    float acc[kRows][kCols] = {};
    for (int k0 = 0; k0 < depth; k0 += kTileK) {
        for (int i = tid; i < kTileM * kTileK / 4; i += kSide * kSide) {
            const int r = i / (kTileK / 4);
            const int s = i % (kTileK / 4) * 4;
            // Rows beyond the last are filled with the last, and not stored.
            const long long row = min(row0 + r, rows - 1);
            const float4 quad = load_quad(a + row * depth, k0 + s, depth);
            tile_a[r][s] = quad.x;
            tile_a[r][s + 1] = quad.y;
            tile_a[r][s + 2] = quad.z;
            tile_a[r][s + 3] = quad.w;
        }
        {
            const int s = tid / (kTileN / 4);
            const int q = tid % (kTileN / 4) * 4;
            float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (k0 + s < depth) {
                quad = load_quad(b + (k0 + s) * cols, col0 + q, cols);
            }
            tile_b[s][q] = quad.x;
            tile_b[s][q + 1] = quad.y;
            tile_b[s][q + 2] = quad.z;
            tile_b[s][q + 3] = quad.w;
        }
        __syncthreads();

        for (int s = 0; s < kTileK; ++s) {
            float fragment_a[kRows];
            float fragment_b[kCols];
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
                fragment_a[i] = tile_a[ty + i * kSide][s];
            }
#pragma unroll
            for (int j = 0; j < kCols; ++j) {
                fragment_b[j] = tile_b[s][tx + j * kSide];
            }
            outer_product(acc, fragment_a, fragment_b);
        }
        __syncthreads();
    }

    for (int i = 0; i < kRows; ++i) {
        const long long row = row0 + ty + i * kSide;
        for (int j = 0; j < kCols; ++j) {
            const int col = col0 + tx + j * kSide;
            if (row < rows && col < cols) {
                c[row * cols + col] = acc[i][j];
            }
        }
    }
}
