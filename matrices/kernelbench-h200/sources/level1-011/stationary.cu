// A four-dimensional tensor times a matrix, with the matrix resident: a block stages 16 whole
// columns of B (dynamic shared memory, 16 KiB at the contract's depth) and then walks over the rows
// of A, which all other dimensions make. Half a warp takes a row, a lane one column.

constexpr int kCols = 16;
constexpr int kThreads = 128;
constexpr int kRowsAtOnce = kThreads / kCols;

__global__ void matmul4d_stationary(const float* __restrict__ a, const float* __restrict__ b,
                                    float* __restrict__ c, int rows, int cols, int depth) {
    extern __shared__ float columns[];  // [depth][kCols]

    const int col0 = blockIdx.x * kCols;
    for (int i = threadIdx.x; i < depth * kCols; i += kThreads) {
        const int col = col0 + i % kCols;
        columns[i] = col < cols ? b[i / kCols * cols + col] : 0.0f;
    }
    __syncthreads();

    const int lane = threadIdx.x % kCols;
    const int first = blockIdx.y * kRowsAtOnce + threadIdx.x / kCols;
    const int step = gridDim.y * kRowsAtOnce;
    if (col0 + lane >= cols) {
        return;
    }
    for (int row = first; row < rows; row += step) {
        const float* row_a = a + static_cast<long long>(row) * depth;
        // Two sums, so that one product need not wait for the other.
        float even = 0.0f;
        float odd = 0.0f;
        int s = 0;
        for (; s + 1 < depth; s += 2) {
            even += row_a[s] * columns[s * kCols + lane];
            odd += row_a[s + 1] * columns[(s + 1) * kCols + lane];
        }
        if (s < depth) {
            even += row_a[s] * columns[s * kCols + lane];
        }
        c[static_cast<long long>(row) * cols + col0 + lane] = even + odd;
    }
}
