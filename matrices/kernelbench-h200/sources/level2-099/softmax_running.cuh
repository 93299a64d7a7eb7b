// A softmax's maximum and sum of exponentials in one pass: the sum is of exponentials of what lies
// below the top so far, and is rescaled whenever that moves. Include limits.cuh first.
#pragma once

struct Running {
    float top;
    float sum;
};

__device__ __forceinline__ Running running_none() {
    return {-FLT_MAX, 0.0f};
}

__device__ __forceinline__ void running_push(Running& running, float value) {
    if (value > running.top) {
        running.sum = running.sum * expf(running.top - value) + 1.0f;
        running.top = value;
    } else {
        running.sum += expf(value - running.top);
    }
}

__device__ __forceinline__ Running running_merge(Running a, Running b) {
    Running both;
    both.top = fmaxf(a.top, b.top);
    both.sum = a.sum * expf(a.top - both.top) + b.sum * expf(b.top - both.top);
    return both;
}

// Every lane of a full warp takes part and gets the whole.
__device__ __forceinline__ Running running_warp(Running running) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        Running other;
        other.top = __shfl_xor_sync(0xffffffffu, running.top, offset);
        other.sum = __shfl_xor_sync(0xffffffffu, running.sum, offset);
        running = running_merge(running, other);
    }
    return running;
}
