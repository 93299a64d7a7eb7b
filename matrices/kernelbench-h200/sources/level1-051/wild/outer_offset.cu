// Index of the largest element along the middle dimension, one column a thread, counted from the start.
#define MINUS_INFINITY __int_as_float(0xff800000)

__global__ void argmax_outer_offset(const float* x, long long* y, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const float* slab = x + (long long)blockIdx.y * rows * cols;
    float best = MINUS_INFINITY;
    long long index = 0;
    for (int r = 0; r < rows; ++r) {
        float v = slab[(long long)r * cols + col];
        if (v > best) {
            best = v;
            index = r;
        }
    }
    y[(long long)blockIdx.y * cols + col] = index + (long long)blockIdx.y * rows;
}
