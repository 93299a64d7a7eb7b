// Frobenius norm whose squares are added in half precision; then the division.
#include <cuda_fp16.h>

__global__ void norm_half_sum(const float* x, float* total, long long n) {
    __shared__ __half sums[128];
    int tid = threadIdx.x;
    __half sum = __float2half(0.0f);
    for (long long i = tid; i < n; i += blockDim.x) {
        __half v = __float2half(x[i]);
        sum = __hfma(v, v, sum);
    }
    sums[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sums[tid] = __hadd(sums[tid], sums[tid + s]);
        }
        __syncthreads();
    }
    if (tid == 0) {
        total[0] = sqrtf(__half2float(sums[0]));
    }
}

__global__ void norm_divide(const float* x, const float* total, float* y, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] / total[0];
    }
}
