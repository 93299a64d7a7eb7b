// y = x / sqrt(sum of x^2 over the whole tensor): every block adds its sum of squares to one number
// as it finishes, so that the order of the additions is the schedule's.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;

__global__ void frobenius_atomic_sum(const float* __restrict__ x, float* __restrict__ total,
                                     long long n) {
    __shared__ float warp_totals[kThreads / 32];

    float sum = 0.0f;
    for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < n;
         i += static_cast<long long>(gridDim.x) * kThreads) {
        sum += x[i] * x[i];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        atomicAdd(total, sum);
    }
}

__global__ void frobenius_by_root(const float* __restrict__ x, const float* __restrict__ total,
                                  float* __restrict__ y, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < n) {
        y[i] = x[i] / sqrtf(total[0]);
    }
}
