// The larger and the smaller of two numbers, where a NaN wins and stays, as torch has it; CUDA's
// own fmaxf and fminf let it lose.
#pragma once

__device__ __forceinline__ float nan_max(float best, float value) {
    return (value > best || value != value) ? value : best;
}

__device__ __forceinline__ float nan_min(float best, float value) {
    return (value < best || value != value) ? value : best;
}
