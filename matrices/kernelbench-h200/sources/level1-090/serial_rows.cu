// Prefix products along rows, 32 rows a block. Tiles of 32 x 32 go through shared memory, read and
// written along the rows by all four warps; in between each lane of the first warp multiplies
// through one row of the tile, so that every row is a single chain of products.

constexpr int kTile = 32;
constexpr int kWarps = 4;

__global__ void cumprod_serial_rows(const float* __restrict__ x, float* __restrict__ y, int rows,
                                    int cols) {
    __shared__ float tile[kTile][kTile + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_row = blockIdx.x * kTile;

    float product = 1.0f;
    for (int first_col = 0; first_col < cols; first_col += kTile) {
        const int col = first_col + tx;
        for (int i = ty; i < kTile; i += kWarps) {
            const int row = first_row + i;
            if (row < rows && col < cols) {
                tile[i][tx] = x[static_cast<long long>(row) * cols + col];
            }
        }
        __syncthreads();

        if (ty == 0) {
            const int count = min(kTile, cols - first_col);
            for (int k = 0; k < count; ++k) {
                product *= tile[tx][k];
                tile[tx][k] = product;
            }
        }
        __syncthreads();

        for (int i = ty; i < kTile; i += kWarps) {
            const int row = first_row + i;
            if (row < rows && col < cols) {
                y[static_cast<long long>(row) * cols + col] = tile[i][tx];
            }
        }
        __syncthreads();
    }
}
