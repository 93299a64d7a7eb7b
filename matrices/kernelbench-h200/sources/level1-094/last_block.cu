// Mean of squared differences in one kernel: a grid-stride loop, a tree in shared memory, and the
// block that finishes last, which a counter in a zeroed workspace tells, adds the partial sums in
// the order of the blocks, whatever order they finished in.

#include "tree_reduce.cuh"

constexpr int kThreads = 128;

__global__ void mse_last_block(const float* __restrict__ predictions,
                               const float* __restrict__ targets, volatile float* partial,
                               unsigned* finished, float* __restrict__ loss, long long n) {
    __shared__ float scratch[kThreads];
    __shared__ bool is_last;

    const long long first = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
    const long long step = static_cast<long long>(gridDim.x) * kThreads;
    float sum = 0.0f;
    for (long long i = first; i < n; i += step) {
        const float difference = predictions[i] - targets[i];
        sum = fmaf(difference, difference, sum);
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
        loss[0] = total / n;
    }
}
