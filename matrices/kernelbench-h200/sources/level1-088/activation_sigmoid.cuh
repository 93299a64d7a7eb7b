// The logistic function without overflow: the exponential is taken of -|x| only, so that it lies
// in (0, 1], and the digits of a small result are kept. NaN passes through.
#pragma once

__device__ __forceinline__ float sigmoid(float value) {
    const float e = expf(-fabsf(value));
    return value >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e);
}
