// Activations of epilogues. Each keeps the digits of small results and lets NaN pass.
#pragma once

__device__ __forceinline__ float leaky_relu(float value, float slope) {
    return value > 0.0f ? value : value * slope;
}

__device__ __forceinline__ float relu(float value) {
    return value < 0.0f ? 0.0f : value;
}

__device__ __forceinline__ float clamp_to(float value, float low, float high) {
    value = value < low ? low : value;
    return value > high ? high : value;
}

__device__ __forceinline__ float logistic(float value) {
    const float e = expf(-fabsf(value));
    return value >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

__device__ __forceinline__ float swish(float value) {
    return value * logistic(value);
}

__device__ __forceinline__ float gelu_erf(float value) {
    return 0.5f * value * (1.0f + erff(value * 0.70710678118654752f));
}

// tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2), which is 1 where e is large.
__device__ __forceinline__ float mish(float value) {
    if (value > 20.0f) {
        return value;
    }
    const float e = expf(value);
    const float n = e * (e + 2.0f);
    return value * (n / (n + 2.0f));
}

__device__ __forceinline__ float hardswish(float value) {
    return value * clamp_to(value + 3.0f, 0.0f, 6.0f) / 6.0f;
}
