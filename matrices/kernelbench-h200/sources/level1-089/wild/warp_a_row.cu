// Cumulative sum, one warp a row: shuffle scans of 32 elements and a carry.
__global__ void cumsum_warp_a_row(const float* x, float* y, int rows, int cols) {
    int lane = threadIdx.x % 32;
    int r = blockIdx.x * 4 + threadIdx.x / 32;
    if (r >= rows) {
        return;
    }
    const float* row = x + (long long)r * cols;
    float* out = y + (long long)r * cols;
    float carry = 0.0f;
    for (int c0 = 0; c0 < cols; c0 += 32) {
        int col = c0 + lane;
        float v = col < cols ? row[col] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            float left = __shfl_up_sync(0xffffffff, v, step);
            if (lane >= step) {
                v += left;
            }
        }
        v += carry;
        if (col < cols) {
            out[col] = v;
        }
        carry = __shfl_sync(0xffffffff, v, 31);
    }
}
