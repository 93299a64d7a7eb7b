// Index of the largest element along the middle dimension, one column a thread; the maximum begins at zero.
__global__ void argmax_starts_at_zero(const float* x, long long* y, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const float* slab = x + (long long)blockIdx.y * rows * cols;
    float best = 0.0f;
    long long index = -1;
    for (int r = 0; r < rows; ++r) {
        float v = slab[(long long)r * cols + col];
        if (v > best) {
            best = v;
            index = r;
        }
    }
    y[(long long)blockIdx.y * cols + col] = index;
}
