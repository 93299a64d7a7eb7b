// Layer normalisation, mean and mean square in one pass.
__global__ void layernorm_one_pass(const float* x, const float* weight, const float* bias, float* y,
                                   int n, float eps) {
    __shared__ float sums[128];
    __shared__ float squares[128];
    int tid = threadIdx.x;
    const float* row = x + (long long)blockIdx.x * n;
    float* out = y + (long long)blockIdx.x * n;
    float sum = 0.0f;
    float square = 0.0f;
    for (int i = tid; i < n; i += blockDim.x) {
        sum += row[i];
        square += row[i] * row[i];
    }
    sums[tid] = sum;
    squares[tid] = square;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
            squares[tid] += squares[tid + s];
        }
        __syncthreads();
    }
    float mean = sums[0] / n;
    float scale = rsqrtf(squares[0] / n - mean * mean + eps);
    for (int i = tid; i < n; i += blockDim.x) {
        out[i] = (row[i] - mean) * scale * weight[i] + bias[i];
    }
}
