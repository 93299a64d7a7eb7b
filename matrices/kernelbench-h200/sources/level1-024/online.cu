// Row-wise log-softmax, one block a row: running maximum and rescaled running sum in one pass over
// float4 (rows of other lengths pass vectors = 0 and go one by one), merged by shuffles in a warp
// and again by the first warp; then y = (x - max) - log(sum), in this order, which keeps digits.

#include "limits.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

struct Running {
    float max;
    float sum;
};

__device__ __forceinline__ void push(Running& running, float value) {
    if (value > running.max) {
        running.sum *= expf(running.max - value);
        running.max = value;
    }
    running.sum += expf(value - running.max);
}

__device__ __forceinline__ Running joined(Running running, int offset) {
    const float other_max = __shfl_xor_sync(0xffffffffu, running.max, offset);
    const float other_sum = __shfl_xor_sync(0xffffffffu, running.sum, offset);
    const float largest = fmaxf(running.max, other_max);
    Running result;
    result.sum = running.sum * expf(running.max - largest) + other_sum * expf(other_max - largest);
    result.max = largest;
    return result;
}

__global__ void logsoftmax_online(const float* __restrict__ x, float* __restrict__ y, int cols,
                                  int vectors) {
    __shared__ Running per_warp[kWarps];
    __shared__ float row_max;
    __shared__ float row_log;

    const int tid = threadIdx.x;
    const float* row_in = x + static_cast<long long>(blockIdx.x) * cols;
    float* row_out = y + static_cast<long long>(blockIdx.x) * cols;
    const float4* row_in4 = reinterpret_cast<const float4*>(row_in);
    float4* row_out4 = reinterpret_cast<float4*>(row_out);

    Running own;
    own.max = -FLT_MAX;
    own.sum = 0.0f;
    for (int v = tid; v < vectors; v += kThreads) {
        const float4 four = row_in4[v];
        push(own, four.x);
        push(own, four.y);
        push(own, four.z);
        push(own, four.w);
    }
    for (int i = vectors * 4 + tid; i < cols; i += kThreads) {
        push(own, row_in[i]);
    }

    for (int offset = 16; offset > 0; offset >>= 1) {
        own = joined(own, offset);
    }
    if (tid % 32 == 0) {
        per_warp[tid / 32] = own;
    }
    __syncthreads();
    if (tid < 32) {
        Running whole = per_warp[tid % kWarps];
        for (int offset = kWarps / 2; offset > 0; offset >>= 1) {
            whole = joined(whole, offset);
        }
        if (tid == 0) {
            row_max = whole.max;
            row_log = logf(whole.sum);
        }
    }
    __syncthreads();

    const float largest = row_max;
    const float log_sum = row_log;
    for (int v = tid; v < vectors; v += kThreads) {
        float4 four = row_in4[v];
        four.x = (four.x - largest) - log_sum;
        four.y = (four.y - largest) - log_sum;
        four.z = (four.z - largest) - log_sum;
        four.w = (four.w - largest) - log_sum;
        row_out4[v] = four;
    }
    for (int i = vectors * 4 + tid; i < cols; i += kThreads) {
        row_out[i] = (row_in[i] - largest) - log_sum;
    }
}
