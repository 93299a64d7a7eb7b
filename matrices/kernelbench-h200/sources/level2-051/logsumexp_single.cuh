// The log-sum-exp of one number, spelled out: an infinite one is its own, and must not be taken
// from itself. Include limits.cuh first.
#pragma once

__device__ __forceinline__ float logsumexp_of_one(float value) {
    const float top = fabsf(value) == INFINITY ? 0.0f : value;
    return logf(expf(value - top)) + top;
}
