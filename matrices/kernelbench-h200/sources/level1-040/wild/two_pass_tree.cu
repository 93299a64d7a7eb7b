// Layer normalisation in two passes, trees in shared memory.
__global__ void layernorm_two_pass_tree(const float* x, const float* weight, const float* bias, float* y, int n,
                   float eps) {
    __shared__ float scratch[256];
    int tid = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * n;
    float* out = y + (long long)blockIdx.x * n;
    float sum = 0.0f;
    for (int i = tid; i < n; i += blockDim.x) {
        sum += row[i];
    }
    scratch[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            scratch[tid] += scratch[tid + s];
        }
        __syncthreads();
    }
    float mean = scratch[0] / n;
    __syncthreads();
    float square = 0.0f;
    for (int i = tid; i < n; i += blockDim.x) {
        float d = row[i] - mean;
        square += d * d;
    }
    scratch[tid] = square;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            scratch[tid] += scratch[tid + s];
        }
        __syncthreads();
    }
    float scale = rsqrtf(scratch[0] / n + eps);
    for (int i = tid; i < n; i += blockDim.x) {
        out[i] = (row[i] - mean) * scale * weight[i] + bias[i];
    }
}
