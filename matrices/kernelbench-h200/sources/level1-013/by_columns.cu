// C = A B with A symmetric: A's tile is read by its rows where a product reads it by its columns,
// so that both tiles come in coalesced and lie in shared memory as they are used. 256 threads bring
// one element of each tile a step and make 32 x 32 outputs, a column of four each.

constexpr int kTile = 32;
constexpr int kTileK = 8;
constexpr int kStrip = 4;

__global__ void symmetric_by_columns(const float* __restrict__ a, const float* __restrict__ b,
                                     float* __restrict__ c, int n) {
    __shared__ float tile_a[kTileK][kTile];
    __shared__ float tile_b[kTileK][kTile];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int row0 = blockIdx.y * kTile;
    const int col = blockIdx.x * kTile + lane;

    float acc[kStrip] = {};
    for (int k0 = 0; k0 < n; k0 += kTileK) {
        const int k = k0 + warp;
        // a[k][row] for a[row][k].
        tile_a[warp][lane] = (k < n && row0 + lane < n) ? a[k * n + row0 + lane] : 0.0f;
        tile_b[warp][lane] = (k < n && col < n) ? b[k * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kTileK; ++kk) {
            const float factor = tile_b[kk][lane];
            for (int i = 0; i < kStrip; ++i) {
                acc[i] += tile_a[kk][warp * kStrip + i] * factor;
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < kStrip; ++i) {
        const int row = row0 + warp * kStrip + i;
        if (row < n && col < n) {
            c[row * n + col] = acc[i];
        }
    }
}
