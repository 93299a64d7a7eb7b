// y = x / sqrt(sum of x^2 over the whole tensor) in three kernels: sums of squares of a grid-stride
// loop over float4, the root of their sum by one block, and a division over float4.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;

__global__ void frobenius_partial(const float* __restrict__ x, float* __restrict__ partial,
                                  long long n) {
    __shared__ float warp_totals[kThreads / 32];

    const long long first = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
    const long long step = static_cast<long long>(gridDim.x) * kThreads;
    const long long n4 = n / 4;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float sum = 0.0f;
    for (long long i = first; i < n4; i += step) {
        const float4 v = x4[i];
        sum += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
    }
    for (long long i = n4 * 4 + first; i < n; i += step) {
        sum += x[i] * x[i];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void frobenius_root(const float* __restrict__ partial, float* __restrict__ norm,
                               int blocks) {
    __shared__ float warp_totals[kThreads / 32];

    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks; b += kThreads) {
        sum += partial[b];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        norm[0] = sqrtf(sum);
    }
}

__global__ void frobenius_divide(const float* __restrict__ x, const float* __restrict__ norm,
                                 float* __restrict__ y, long long n) {
    const long long i = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) * 4;
    const float divisor = norm[0];
    if (i + 4 <= n) {
        float4 v = reinterpret_cast<const float4*>(x)[i / 4];
        v.x /= divisor;
        v.y /= divisor;
        v.z /= divisor;
        v.w /= divisor;
        reinterpret_cast<float4*>(y)[i / 4] = v;
    } else {
        for (long long k = i; k < n; ++k) {
            y[k] = x[k] / divisor;
        }
    }
}
