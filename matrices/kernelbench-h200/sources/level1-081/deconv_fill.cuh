// Zeroes an output that other launches add to. Any one-dimensional grid.
#pragma once

__global__ void deconv_fill(float* __restrict__ y, long long elements) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < elements; i += step) {
        y[i] = 0.0f;
    }
}
