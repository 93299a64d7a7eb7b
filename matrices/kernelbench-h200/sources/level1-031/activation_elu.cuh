// x where x is positive, alpha (exp(x) - 1) elsewhere; expm1f keeps the digits that a difference
// loses near zero. NaN passes through.
#pragma once

__device__ __forceinline__ float elu(float value, float alpha) {
    return value > 0.0f ? value : alpha * expm1f(value);
}
