// C = A B with A and B lower triangular, without shared memory: a thread sums exactly the terms
// from its column to its row. A warp's threads have neighbouring columns of one row, so that A is
// broadcast and B coalesced; each thread goes on with the row 16 below.

constexpr int kRowsBelow = 16;

__global__ void lower_bounded(const float* __restrict__ a, const float* __restrict__ b,
                              float* __restrict__ c, int n) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int first_row = blockIdx.y * (2 * kRowsBelow) + threadIdx.y;
    if (col >= n) {
        return;
    }
    for (int row = first_row; row < first_row + 2 * kRowsBelow && row < n; row += kRowsBelow) {
        const float* row_a = a + static_cast<size_t>(row) * n;
        float acc = 0.0f;
        for (int k = col; k <= row; ++k) {
            acc += row_a[k] * b[static_cast<size_t>(k) * n + col];
        }
        c[static_cast<size_t>(row) * n + col] = acc;
    }
}
