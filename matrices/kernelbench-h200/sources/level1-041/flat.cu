// 1D max-pooling over the flat index of all outputs, in a grid-stride loop. Only the taps inside
// the line are visited: the first one is computed, the last one ends the loop.

#include "limits.cuh"
#include "pool_nan.cuh"

__global__ void maxpool1d_flat(const float* __restrict__ x, float* __restrict__ y,
                               long long outputs, int length, int out_length, int kernel,
                               int stride, int padding, int dilation) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; at < outputs; at += step) {
        const long long line = at / out_length;
        const int first = static_cast<int>(at % out_length) * stride - padding;
        int tap = first < 0 ? (dilation - 1 - first) / dilation : 0;
        int position = first + tap * dilation;

        const float* in = x + line * length;
        float best = -INFINITY;
        while (tap < kernel && position < length) {
            best = nan_max(best, in[position]);
            position += dilation;
            ++tap;
        }
        y[at] = best;
    }
}
