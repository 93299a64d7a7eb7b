// Means over the middle dimension of (batch, rows, cols). A thread keeps four columns, a warp's
// width apart, in registers; the four warps of a block take turns at the rows of the block's part.
// Parts are split over blockIdx.y; a second kernel adds their sums and scales by 1 / rows.

constexpr int kWarps = 4;
constexpr int kColumns = 4;
constexpr int kTile = 32 * kColumns;

__global__ void mean_four_columns(const float* __restrict__ x, float* __restrict__ partial,
                                  int rows, int cols, int length) {
    __shared__ float warp_sums[kWarps][kTile];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int first_col = blockIdx.x * kTile + lane;
    const long long batch = blockIdx.z;
    const int begin = blockIdx.y * length;
    const int end = min(begin + length, rows);

    float sums[kColumns] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int row = begin + warp; row < end; row += kWarps) {
        const float* line = x + (batch * rows + row) * cols;
#pragma unroll
        for (int k = 0; k < kColumns; ++k) {
            const int col = first_col + k * 32;
            if (col < cols) {
                sums[k] += line[col];
            }
        }
    }
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
        warp_sums[warp][lane + k * 32] = sums[k];
    }
    __syncthreads();

    const int col = blockIdx.x * kTile + threadIdx.x;
    if (col < cols) {
        const float low = warp_sums[0][threadIdx.x] + warp_sums[1][threadIdx.x];
        const float high = warp_sums[2][threadIdx.x] + warp_sums[3][threadIdx.x];
        partial[(batch * gridDim.y + blockIdx.y) * cols + col] = low + high;
    }
}

__global__ void mean_combine(const float* __restrict__ partial, float* __restrict__ y, int outputs,
                             int cols, int splits, float share) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    const float* first = partial + static_cast<long long>(i / cols) * splits * cols + i % cols;
    float total = 0.0f;
    for (int s = 0; s < splits; ++s) {
        total += first[s * cols];
    }
    y[i] = total * share;
}
