// A three-dimensional tensor times a matrix, one matrix of the tensor a grid layer: 128 threads, in
// four warps of 4 x 8 threads each, make a 16 x 32 tile; a warp has a quarter of it, a thread 2 x 2
// outputs of that. A's tile is read back along its rows, B's is padded.

constexpr int kTileM = 16;
constexpr int kTileN = 32;
constexpr int kTileK = 16;
constexpr int kThreads = 128;

__global__ void matmul3d_layers(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ c, int rows, int cols, int depth) {
    __shared__ float tile_a[kTileM][kTileK + 1];
    __shared__ float tile_b[kTileK][kTileN + 1];

    const size_t layer = blockIdx.z;
    const float* layer_a = a + layer * rows * depth;
    float* layer_c = c + layer * rows * cols;

    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int warp = tid >> 5;
    const int own_row = (warp >> 1) * 8 + (lane >> 3) * 2;
    const int own_col = (warp & 1) * 16 + (lane & 7) * 2;
    const int row0 = blockIdx.x * kTileM;
    const int col0 = blockIdx.y * kTileN;

    float acc[2][2] = {};
    for (int k0 = 0; k0 < depth; k0 += kTileK) {
        for (int i = tid; i < kTileM * kTileK; i += kThreads) {
            const int r = i >> 4;
            const int s = i & 15;
            tile_a[r][s] = (row0 + r < rows && k0 + s < depth)
                               ? layer_a[static_cast<size_t>(row0 + r) * depth + k0 + s]
                               : 0.0f;
        }
        for (int i = tid; i < kTileK * kTileN; i += kThreads) {
            const int s = i >> 5;
            const int q = i & 31;
            tile_b[s][q] =
                (k0 + s < depth && col0 + q < cols) ? b[(k0 + s) * cols + col0 + q] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int s = 0; s < kTileK; ++s) {
            const float2 u = make_float2(tile_a[own_row][s], tile_a[own_row + 1][s]);
            const float2 v = make_float2(tile_b[s][own_col], tile_b[s][own_col + 1]);
            acc[0][0] = fmaf(u.x, v.x, acc[0][0]);
            acc[0][1] = fmaf(u.x, v.y, acc[0][1]);
            acc[1][0] = fmaf(u.y, v.x, acc[1][0]);
            acc[1][1] = fmaf(u.y, v.y, acc[1][1]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const int row = row0 + own_row + i;
            const int col = col0 + own_col + j;
            if (row < rows && col < cols) {
                layer_c[static_cast<size_t>(row) * cols + col] = acc[i][j];
            }
        }
    }
}
