// C = A B with A and B upper triangular, on a grid that has blocks for the tiles on and above C's
// diagonal alone, counted row by row; what lies below is cleared by a kernel of its own. 64 threads
// make a 16 x 16 tile, four rows of one column each, and never read below a diagonal.

constexpr int kTile = 16;
constexpr int kTileK = 16;
constexpr int kThreads = 64;
constexpr int kRows = 4;

__global__ void clear_lower(float* __restrict__ c, int n) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < row) {
        c[row * n + col] = 0.0f;
    }
}

__global__ void upper_packed(const float* __restrict__ a, const float* __restrict__ b,
                             float* __restrict__ c, int n) {
    __shared__ float tile_a[kTile][kTileK + 1];
    __shared__ float tile_b[kTileK][kTile];

    const int tiles = (n + kTile - 1) / kTile;
    int tile_row = 0;
    int tile_col = blockIdx.x;
    while (tile_col >= tiles - tile_row) {
        tile_col -= tiles - tile_row;
        ++tile_row;
    }
    tile_col += tile_row;

    const int tid = threadIdx.x;
    const int row0 = tile_row * kTile;
    const int col0 = tile_col * kTile;
    const int own_col = tid % kTile;
    const int own_row = tid / kTile * kRows;
    const int end = min(col0 + kTile, n);

    float acc[kRows] = {};
    for (int k0 = row0; k0 < end; k0 += kTileK) {
        for (int i = tid; i < kTile * kTileK; i += kThreads) {
            const int row = row0 + i / kTileK;
            const int k = k0 + i % kTileK;
            tile_a[i / kTileK][i % kTileK] = (row <= k && k < n) ? a[row * n + k] : 0.0f;
        }
        for (int i = tid; i < kTileK * kTile; i += kThreads) {
            const int k = k0 + i / kTile;
            const int col = col0 + i % kTile;
            tile_b[i / kTile][i % kTile] = (k <= col && col < n) ? b[k * n + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kTileK; ++k) {
            const float factor = tile_b[k][own_col];
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
                acc[i] = fmaf(tile_a[own_row + i][k], factor, acc[i]);
            }
        }
        __syncthreads();
    }

    const int col = col0 + own_col;
    for (int i = 0; i < kRows; ++i) {
        const int row = row0 + own_row + i;
        if (row <= col && col < n) {
            c[row * n + col] = acc[i];
        }
    }
}
