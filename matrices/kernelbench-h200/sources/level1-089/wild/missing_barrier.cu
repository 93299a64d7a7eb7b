// Cumulative sum in chunks with a carry; the doubling steps read and write between the same two
// barriers.
#define BLOCK 128

__global__ void cumsum_missing_barrier(const float* x, float* y, int cols) {
    __shared__ float scan[BLOCK];
    int tid = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    float carry = 0.0f;
    for (int c0 = 0; c0 < cols; c0 += BLOCK) {
        int col = c0 + tid;
        scan[tid] = col < cols ? row[col] : 0.0f;
        __syncthreads();
        for (int step = 1; step < BLOCK; step *= 2) {
            if (tid >= step) {
                scan[tid] += scan[tid - step];
            }
            __syncthreads();
        }
        if (col < cols) {
            out[col] = scan[tid] + carry;
        }
        carry += scan[BLOCK - 1];
        __syncthreads();
    }
}
