// Which input coordinate a tap of a transposed convolution carries to an output coordinate along
// one axis: (out + padding - tap * dilation) / stride where that is whole and inside, else -1.
#pragma once

__device__ __forceinline__ int deconv_source(int out, int tap, int extent, int stride, int padding,
                                             int dilation) {
    const int shifted = out + padding - tap * dilation;
    if (shifted < 0 || shifted % stride != 0) {
        return -1;
    }
    const int source = shifted / stride;
    return source < extent ? source : -1;
}
