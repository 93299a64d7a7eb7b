// 3 x 3 transposed convolution, stride 5, dilation 2, padding 1: an output sees at most one tap
// along each axis, since 0, 2 and 4 are different modulo 5. A thread finds the two taps and sums
// over the input channels; many outputs see none and are zero.
#include "deconv_source.cuh"

constexpr int kKernel = 3;
constexpr int kStride = 5;
constexpr int kDilation = 2;
constexpr int kPadding = 1;

struct Hit {
    int tap;
    int source;
};

__device__ __forceinline__ Hit find_hit(int out, int extent) {
    Hit hit = {-1, -1};
    for (int k = 0; k < kKernel; ++k) {
        const int source = deconv_source(out, k, extent, kStride, kPadding, kDilation);
        if (source >= 0) {
            hit.tap = k;
            hit.source = source;
        }
    }
    return hit;
}

__global__ void conv_transpose2d_sparse_gather(const float* __restrict__ x,
                                               const float* __restrict__ weight,
                                               float* __restrict__ y, int in_channels, int height,
                                               int width, int out_channels, int out_height,
                                               int out_width) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int blocks = (out_channels + blockDim.z - 1) / blockDim.z;
    const int channel = blockIdx.z % blocks * blockDim.z + threadIdx.z;
    const int image = blockIdx.z / blocks;
    if (col >= out_width || row >= out_height || channel >= out_channels) {
        return;
    }

    const Hit h = find_hit(row, height);
    const Hit w = find_hit(col, width);
    float sum = 0.0f;
    if (h.source >= 0 && w.source >= 0) {
        const long long plane = static_cast<long long>(height) * width;
        const float* pixel = x + image * in_channels * plane + h.source * width + w.source;
        const float* tap = weight + channel * kKernel * kKernel + h.tap * kKernel + w.tap;
        for (int c = 0; c < in_channels; ++c) {
            sum += pixel[c * plane] * tap[c * out_channels * kKernel * kKernel];
        }
    }
    const long long out = static_cast<long long>(image) * out_channels + channel;
    y[(out * out_height + row) * out_width + col] = sum;
}
