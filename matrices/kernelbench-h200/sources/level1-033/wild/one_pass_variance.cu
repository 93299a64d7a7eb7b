// Batch normalisation, one block a channel, sum and sum of squares in one pass.
__global__ void batchnorm_one_pass(const float* x, const float* weight, const float* bias, float* y,
                                   int batch, int channels, int pixels, float eps) {
    __shared__ float sums[128];
    __shared__ float squares[128];
    int tid = threadIdx.x;
    int c = blockIdx.x;
    float sum = 0.0f;
    float square = 0.0f;
    for (int b = 0; b < batch; ++b) {
        const float* plane = x + ((long long)b * channels + c) * pixels;
        for (int i = tid; i < pixels; i += blockDim.x) {
            sum += plane[i];
            square += plane[i] * plane[i];
        }
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
    float count = (float)batch * pixels;
    float mean = sums[0] / count;
    float variance = squares[0] / count - mean * mean;
    float scale = weight[c] * rsqrtf(variance + eps);
    for (int b = 0; b < batch; ++b) {
        const float* plane = x + ((long long)b * channels + c) * pixels;
        float* out = y + ((long long)b * channels + c) * pixels;
        for (int i = tid; i < pixels; i += blockDim.x) {
            out[i] = (plane[i] - mean) * scale + bias[c];
        }
    }
}
