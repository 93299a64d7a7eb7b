// Prefix sums of the masked elements of each row, one block a row in steps of 128 elements: a
// log-step scan over two buffers in shared memory, whose last element is carried to the next step.

constexpr int kThreads = 128;

__global__ void masked_cumsum_block_rows(const float* __restrict__ x, const bool* __restrict__ mask,
                                         float* __restrict__ y, int cols) {
    __shared__ float buffer[2][kThreads];

    const int tid = threadIdx.x;
    const long long start = static_cast<long long>(blockIdx.x) * cols;

    float carry = 0.0f;
    for (int first = 0; first < cols; first += kThreads) {
        const int i = first + tid;
        float value = 0.0f;
        if (i < cols && mask[start + i]) {
            value = x[start + i];
        }
        int from = 0;
        buffer[from][tid] = value;
        __syncthreads();
        for (int offset = 1; offset < kThreads; offset <<= 1) {
            const float before = tid >= offset ? buffer[from][tid - offset] : 0.0f;
            from ^= 1;
            buffer[from][tid] = buffer[from ^ 1][tid] + before;
            __syncthreads();
        }
        if (i < cols) {
            y[start + i] = carry + buffer[from][tid];
        }
        carry += buffer[from][kThreads - 1];
        __syncthreads();
    }
}
