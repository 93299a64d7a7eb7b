// Softmax in which every thread subtracts the maximum of the elements that it saw itself.
__global__ void softmax_own_maximum(const float* x, float* y, int cols) {
    __shared__ float sums[128];
    int tid = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    float largest = tid < cols ? row[tid] : 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        largest = fmaxf(largest, row[i]);
    }
    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
        sum += expf(row[i] - largest);
    }
    sums[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
        }
        __syncthreads();
    }
    for (int i = tid; i < cols; i += blockDim.x) {
        out[i] = expf(row[i] - largest) / sums[0];
    }
}
