// A batch of products by a fixed number of blocks, which take 16 x 16 tiles of all batch entries in
// turn; columns of tiles run fastest, so that neighbouring blocks share rows of A.

constexpr int kTile = 16;

__global__ void bmm_persistent(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ c, int batch, int m, int n, int k) {
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile + 1];

    const int tx = threadIdx.x % kTile;
    const int ty = threadIdx.x / kTile;
    const int tile_cols = (n + kTile - 1) / kTile;
    const int tile_rows = (m + kTile - 1) / kTile;
    const int tiles = batch * tile_rows * tile_cols;

    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int col = (tile % tile_cols) * kTile + tx;
        const int row = (tile / tile_cols % tile_rows) * kTile + ty;
        const long long entry = tile / (tile_cols * tile_rows);
        const float* own_a = a + (entry * m + row) * k;
        const float* own_b = b + entry * k * n + col;

        float acc = 0.0f;
        for (int k0 = 0; k0 < k; k0 += kTile) {
            tile_a[ty][tx] = (row < m && k0 + tx < k) ? own_a[k0 + tx] : 0.0f;
            tile_b[tx][ty] = (k0 + ty < k && col < n) ? own_b[(k0 + ty) * n] : 0.0f;
            __syncthreads();
            for (int kk = 0; kk < kTile; ++kk) {
                acc += tile_a[ty][kk] * tile_b[tx][kk];
            }
            __syncthreads();
        }
        if (row < m && col < n) {
            c[(entry * m + row) * n + col] = acc;
        }
    }
}
