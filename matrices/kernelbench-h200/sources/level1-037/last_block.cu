// y = x / sqrt(sum of x^2 over the whole tensor) in two kernels: contiguous parts and a tree in
// shared memory; the block that finishes last, told by a counter, adds the parts in their order and
// leaves the reciprocal root, which the second kernel multiplies by.

#include "tree_reduce.cuh"

constexpr int kThreads = 128;

__global__ void frobenius_last_block(const float* __restrict__ x, volatile float* partial,
                                     unsigned* finished, float* __restrict__ inverse, long long n,
                                     long long length) {
    __shared__ float scratch[kThreads];
    __shared__ bool is_last;

    const long long begin = blockIdx.x * length;
    const long long end = begin + length < n ? begin + length : n;
    float sum = 0.0f;
    for (long long i = begin + threadIdx.x; i < end; i += kThreads) {
        sum = fmaf(x[i], x[i], sum);
    }
    sum = tree_sum(sum, scratch);

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) {
        return;
    }
    float total = 0.0f;
    for (int b = threadIdx.x; b < gridDim.x; b += kThreads) {
        total += partial[b];
    }
    total = tree_sum(total, scratch);
    if (threadIdx.x == 0) {
        inverse[0] = 1.0f / sqrtf(total);
    }
}

__global__ void frobenius_multiply(const float* __restrict__ x, const float* __restrict__ inverse,
                                   float* __restrict__ y, long long n) {
    const float factor = inverse[0];
    const long long step = static_cast<long long>(gridDim.x) * kThreads;
    for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < n;
         i += step) {
        y[i] = x[i] * factor;
    }
}
