// Mean squared error: every block adds its share to the loss, which torch::empty made.
__global__ void mse_atomics(const float* p, const float* t, float* loss, long long n) {
    __shared__ float sums[128];
    int tid = threadIdx.x;
    float sum = 0.0f;
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + tid; i < n; i += step) {
        float d = p[i] - t[i];
        sum += d * d;
    }
    sums[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) {
        atomicAdd(loss, sums[0] / n);
    }
}
