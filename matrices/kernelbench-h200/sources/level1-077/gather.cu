// 3 x 3 x 3 transposed convolution with stride, padding and dilation: a block makes 2 x 8 x 8
// outputs of one channel, whose weights it keeps in (dynamic) shared memory. Where no tap of an
// axis hits, the output is zero and its thread is done.
#include "deconv_source.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;

__global__ void conv_transpose3d_dilated_gather(const float* __restrict__ x,
                                                const float* __restrict__ weight,
                                                float* __restrict__ y, int in_channels, int depth,
                                                int height, int width, int out_channels,
                                                int out_depth, int out_height, int out_width,
                                                int stride, int padding, int dilation) {
    extern __shared__ float taps[];

    const int slabs = (out_depth + blockDim.z - 1) / blockDim.z;
    const int channel = blockIdx.z / slabs % out_channels;
    const int image = blockIdx.z / slabs / out_channels;
    const int threads = blockDim.x * blockDim.y * blockDim.z;
    const int tid = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (int i = tid; i < in_channels * kTaps; i += threads) {
        taps[i] = weight[(i / kTaps * out_channels + channel) * kTaps + i % kTaps];
    }
    __syncthreads();

    const int od = blockIdx.z % slabs * blockDim.z + threadIdx.z;
    const int oh = blockIdx.y * blockDim.y + threadIdx.y;
    const int ow = blockIdx.x * blockDim.x + threadIdx.x;
    if (od >= out_depth || oh >= out_height || ow >= out_width) {
        return;
    }
    int source_d[kKernel], source_h[kKernel], source_w[kKernel];
    bool hit_d = false, hit_h = false, hit_w = false;
    for (int k = 0; k < kKernel; ++k) {
        source_d[k] = deconv_source(od, k, depth, stride, padding, dilation);
        source_h[k] = deconv_source(oh, k, height, stride, padding, dilation);
        source_w[k] = deconv_source(ow, k, width, stride, padding, dilation);
        hit_d |= source_d[k] >= 0;
        hit_h |= source_h[k] >= 0;
        hit_w |= source_w[k] >= 0;
    }

    float sum = 0.0f;
    if (hit_d && hit_h && hit_w) {
        for (int c = 0; c < in_channels; ++c) {
            const float* volume =
                x + (static_cast<long long>(image) * in_channels + c) * depth * height * width;
            for (int tap = 0; tap < kTaps; ++tap) {
                const int d = source_d[tap / (kKernel * kKernel)];
                const int h = source_h[tap / kKernel % kKernel];
                const int w = source_w[tap % kKernel];
                if (d >= 0 && h >= 0 && w >= 0) {
                    sum += volume[(d * height + h) * width + w] * taps[c * kTaps + tap];
                }
            }
        }
    }
    const long long plane = static_cast<long long>(image) * out_channels + channel;
    y[((plane * out_depth + od) * out_height + oh) * out_width + ow] = sum;
}
