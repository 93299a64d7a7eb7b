// A matrix times a number on a two-dimensional grid: a block takes 256 neighbouring columns, two a
// thread and 128 apart, and walks down the rows. Both loads of a row are on their way before its
// first store.

constexpr int kThreads = 128;

__global__ void scale_rows(const float* __restrict__ a, float* __restrict__ c, float s, int rows,
                           int cols) {
    const int col = blockIdx.x * (2 * kThreads) + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const bool two = col + kThreads < cols;

    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        const float* in = a + static_cast<size_t>(row) * cols + col;
        float* out = c + static_cast<size_t>(row) * cols + col;
        float near = in[0];
        float far = two ? in[kThreads] : 0.0f;
        near *= s;
        far *= s;
        out[0] = near;
        if (two) {
            out[kThreads] = far;
        }
    }
}
