// Mean cross-entropy of rows of logits against class ids, one block a row: a single pass keeps a
// running maximum and a rescaled running sum, merged by shuffles and through shared memory. The
// losses of the rows go to a workspace; one block takes their mean.

#include "limits.cuh"
#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

struct Partial {
    float max;
    float sum;
};

__device__ __forceinline__ Partial merge(Partial a, Partial b) {
    Partial merged;
    merged.max = fmaxf(a.max, b.max);
    merged.sum = a.sum * expf(a.max - merged.max) + b.sum * expf(b.max - merged.max);
    return merged;
}

__global__ void cross_entropy_online(const float* __restrict__ logits,
                                     const long long* __restrict__ targets,
                                     float* __restrict__ losses, int classes) {
    __shared__ float warp_max[kWarps];
    __shared__ float warp_sum_of[kWarps];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const float* row = logits + static_cast<long long>(blockIdx.x) * classes;

    Partial own;
    own.max = -FLT_MAX;
    own.sum = 0.0f;
    for (int i = tid; i < classes; i += kThreads) {
        const float value = row[i];
        if (value > own.max) {
            own.sum = own.sum * expf(own.max - value);
            own.max = value;
        }
        own.sum += expf(value - own.max);
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        Partial other;
        other.max = __shfl_xor_sync(0xffffffffu, own.max, offset);
        other.sum = __shfl_xor_sync(0xffffffffu, own.sum, offset);
        own = merge(own, other);
    }
    if (lane == 0) {
        warp_max[warp] = own.max;
        warp_sum_of[warp] = own.sum;
    }
    __syncthreads();

    if (tid == 0) {
        Partial whole;
        whole.max = warp_max[0];
        whole.sum = warp_sum_of[0];
        for (int w = 1; w < kWarps; ++w) {
            Partial other;
            other.max = warp_max[w];
            other.sum = warp_sum_of[w];
            whole = merge(whole, other);
        }
        const float chosen = row[targets[blockIdx.x]];
        losses[blockIdx.x] = logf(whole.sum) - (chosen - whole.max);
    }
}

__global__ void cross_entropy_mean(const float* __restrict__ losses, float* __restrict__ loss,
                                   int rows) {
    __shared__ float warp_totals[kWarps];

    float sum = 0.0f;
    for (int i = threadIdx.x; i < rows; i += kThreads) {
        sum += losses[i];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        loss[0] = sum / rows;
    }
}
