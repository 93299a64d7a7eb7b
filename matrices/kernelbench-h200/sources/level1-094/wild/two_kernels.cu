// Mean squared error: partial sums of a grid-stride loop, then one block.
__device__ float tree(float v, float* sums) {
    int tid = threadIdx.x;
    sums[tid] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
        }
        __syncthreads();
    }
    return sums[0];
}

__global__ void mse_partial_sums(const float* p, const float* t, float* partial, long long n) {
    __shared__ float sums[128];
    float sum = 0.0f;
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float d = p[i] - t[i];
        sum += d * d;
    }
    sum = tree(sum, sums);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void mse_finish(const float* partial, float* loss, int blocks, long long n) {
    __shared__ float sums[128];
    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks; b += blockDim.x) {
        sum += partial[b];
    }
    sum = tree(sum, sums);
    if (threadIdx.x == 0) {
        loss[0] = sum / n;
    }
}
