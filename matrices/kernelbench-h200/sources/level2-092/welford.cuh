// Running mean and sum of squared deviations (Welford), and the merge of two such (Chan).
#pragma once

struct Moments {
    float count;
    float mean;
    float m2;
};

__device__ __forceinline__ void welford_push(Moments& moments, float value) {
    moments.count += 1.0f;
    const float delta = value - moments.mean;
    moments.mean += delta / moments.count;
    moments.m2 += delta * (value - moments.mean);
}

__device__ __forceinline__ Moments welford_merge(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.0f) {
        return a;
    }
    const float delta = b.mean - a.mean;
    const float share = b.count / count;
    Moments merged;
    merged.count = count;
    merged.mean = a.mean + delta * share;
    merged.m2 = a.m2 + b.m2 + delta * delta * a.count * share;
    return merged;
}

__device__ __forceinline__ Moments welford_warp(Moments moments) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        Moments other;
        other.count = __shfl_down_sync(0xffffffffu, moments.count, offset);
        other.mean = __shfl_down_sync(0xffffffffu, moments.mean, offset);
        other.m2 = __shfl_down_sync(0xffffffffu, moments.m2, offset);
        moments = welford_merge(moments, other);
    }
    return moments;  // whole in lane 0
}
