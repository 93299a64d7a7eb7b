// Row-wise softmax, one block a row: a single pass keeps a running maximum and a running sum that
// is rescaled when the maximum grows; warps combine by shuffles, the block through shared memory.

#include "limits.cuh"

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

__global__ void softmax_online(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float warp_max[kWarps];
    __shared__ float warp_sum[kWarps];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const long long base = static_cast<long long>(blockIdx.x) * cols;

    Partial own;
    own.max = -FLT_MAX;
    own.sum = 0.0f;
    for (int i = tid; i < cols; i += kThreads) {
        const float value = x[base + i];
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
        warp_sum[warp] = own.sum;
    }
    __syncthreads();

    Partial row;
    row.max = warp_max[0];
    row.sum = warp_sum[0];
    for (int w = 1; w < kWarps; ++w) {
        Partial other;
        other.max = warp_max[w];
        other.sum = warp_sum[w];
        row = merge(row, other);
    }

    const float scale = 1.0f / row.sum;
    for (int i = tid; i < cols; i += kThreads) {
        y[base + i] = expf(x[base + i] - row.max) * scale;
    }
}
