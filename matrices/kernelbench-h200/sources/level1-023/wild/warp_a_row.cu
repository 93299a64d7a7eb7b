// Softmax, one warp a row, four rows a block, shuffles only.
#define MINUS_INFINITY __int_as_float(0xff800000)

__global__ void softmax_warp_a_row(const float* x, float* y, int rows, int cols) {
    int lane = threadIdx.x % 32;
    int r = blockIdx.x * 4 + threadIdx.x / 32;
    if (r >= rows) {
        return;
    }
    const float* row = x + (long long)r * cols;
    float* out = y + (long long)r * cols;
    float largest = MINUS_INFINITY;
    for (int i = lane; i < cols; i += 32) {
        largest = fmaxf(largest, row[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    float sum = 0.0f;
    for (int i = lane; i < cols; i += 32) {
        sum += expf(row[i] - largest);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    for (int i = lane; i < cols; i += 32) {
        out[i] = expf(row[i] - largest) / sum;
    }
}
