// Layer normalisation with three warps a block; the second stage shuffles over "as many lanes as
// there are warps", halving from three.
#define WARPS 3

__device__ float sum_of_block(float v, float* scratch) {
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    for (int offset = 16; offset > 0; offset /= 2) {
        v += __shfl_xor_sync(0xffffffff, v, offset);
    }
    if (lane == 0) {
        scratch[warp] = v;
    }
    __syncthreads();
    v = lane < WARPS ? scratch[lane] : 0.0f;
    for (int offset = WARPS / 2; offset > 0; offset /= 2) {
        v += __shfl_down_sync(0xffffffff, v, offset);
    }
    v = __shfl_sync(0xffffffff, v, 0);
    __syncthreads();
    return v;
}

__global__ void layernorm_three_warps(const float* x, const float* weight, const float* bias,
                                      float* y, int n, float eps) {
    __shared__ float scratch[WARPS];
    const float* row = x + (long long)blockIdx.x * n;
    float* out = y + (long long)blockIdx.x * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        sum += row[i];
    }
    float mean = sum_of_block(sum, scratch) / n;
    float square = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float d = row[i] - mean;
        square += d * d;
    }
    float scale = rsqrtf(sum_of_block(square, scratch) / n + eps);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = (row[i] - mean) * scale * weight[i] + bias[i];
    }
}
