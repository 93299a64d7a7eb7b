// y = max(x, slope x), which is the leaky ReLU for slopes from 0 to 1: tiles of 64 columns and 16
// rows, 32 x 8 threads, four elements each. The maximum of two NaN is NaN.

constexpr int kTileCols = 64;
constexpr int kTileRows = 16;

__global__ void leaky_relu_tiles(const float* __restrict__ x, float* __restrict__ y, int rows,
                                 int cols, float slope) {
    const int row0 = blockIdx.y * kTileRows + threadIdx.y;
    const int col0 = blockIdx.x * kTileCols + threadIdx.x;
    for (int row = row0; row < min(row0 + kTileRows, rows); row += blockDim.y) {
        for (int col = col0; col < min(col0 + kTileCols, cols); col += blockDim.x) {
            const long long i = static_cast<long long>(row) * cols + col;
            const float value = x[i];
            y[i] = fmaxf(value, slope * value);
        }
    }
}
