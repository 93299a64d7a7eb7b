// C = A B^T with B stored (n, k): the rows of both factors run along the reduction. 256 threads
// make 32 x 32 outputs, 2 x 2 each; the first half of them brings A's tile, four terms of a row a
// thread, the other half B's. Rows in shared memory are padded, since a warp reads down a column.

#include "gemm_load.cuh"

constexpr int kTile = 32;
constexpr int kTileK = 16;
constexpr int kQuads = kTileK / 4;
constexpr int kLoaders = kTile * kQuads;

__global__ void transposed_b_padded(const float* __restrict__ a, const float* __restrict__ b,
                                    float* __restrict__ c, int m, int n, int k) {
    __shared__ float tiles[2][kTile][kTileK + 1];

    const int tid = threadIdx.x;
    const int side = tid / kLoaders;
    const int line = tid % kLoaders / kQuads;
    const int term = tid % kQuads * 4;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;

    const int source_row = (side == 0 ? row0 : col0) + line;
    const bool inside = source_row < (side == 0 ? m : n);
    const float* source = (side == 0 ? a : b) + static_cast<long long>(source_row) * k;

    const int tx = tid % 16;
    const int ty = tid / 16;
    float acc[2][2] = {};
    for (int k0 = 0; k0 < k; k0 += kTileK) {
        float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (inside) {
            quad = load_quad(source, k0 + term, k);
        }
        float* target = &tiles[side][line][term];
        target[0] = quad.x;
        target[1] = quad.y;
        target[2] = quad.z;
        target[3] = quad.w;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kTileK; ++kk) {
            const float a0 = tiles[0][ty][kk];
            const float a1 = tiles[0][ty + 16][kk];
            const float b0 = tiles[1][tx][kk];
            const float b1 = tiles[1][tx + 16][kk];
            acc[0][0] += a0 * b0;
            acc[0][1] += a0 * b1;
            acc[1][0] += a1 * b0;
            acc[1][1] += a1 * b1;
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            const int row = row0 + ty + 16 * i;
            const int col = col0 + tx + 16 * j;
            if (row < m && col < n) {
                c[static_cast<long long>(row) * n + col] = acc[i][j];
            }
        }
    }
}
