// Minima over the middle dimension of (batch, rows, cols), 32 columns a block. Tiles of 32 x 32 go
// through shared memory, where each warp turns to four columns: a lane keeps the minimum of its row
// of all tiles, and shuffles find the column's.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kTile = 32;
constexpr int kWarps = 8;
constexpr int kColumns = kTile / kWarps;

__device__ __forceinline__ float warp_min(float value) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = nan_min(value, __shfl_down_sync(0xffffffffu, value, offset));
    }
    return value;  // in lane 0
}

__global__ void min_transposed(const float* __restrict__ x, float* __restrict__ y, int rows,
                               int cols) {
    __shared__ float tile[kTile][kTile + 1];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_col = blockIdx.x * kTile;
    const int col = first_col + lane;
    const long long batch = blockIdx.y;

    float best[kColumns];
    for (int k = 0; k < kColumns; ++k) {
        best[k] = INFINITY;
    }
    for (int first_row = 0; first_row < rows; first_row += kTile) {
        for (int i = warp; i < kTile; i += kWarps) {
            const int row = first_row + i;
            const bool inside = row < rows && col < cols;
            tile[i][lane] = inside ? x[(batch * rows + row) * cols + col] : INFINITY;
        }
        __syncthreads();
        for (int k = 0; k < kColumns; ++k) {
            best[k] = nan_min(best[k], tile[lane][warp * kColumns + k]);
        }
        __syncthreads();
    }
    for (int k = 0; k < kColumns; ++k) {
        const float least = warp_min(best[k]);
        const int out_col = first_col + warp * kColumns + k;
        if (lane == 0 && out_col < cols) {
            y[batch * cols + out_col] = least;
        }
    }
}
