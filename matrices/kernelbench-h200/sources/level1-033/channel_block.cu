// BatchNorm on the statistics of the batch, one block a channel: Welford's moments over the
// channel's pixels of all images, then the same pixels again, normalised.

#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kThreads = 128;

__global__ void batchnorm_channel(const float* __restrict__ x, const float* __restrict__ weight,
                                  const float* __restrict__ bias, float* __restrict__ y, int batch,
                                  int channels, int pixels, float eps) {
    __shared__ Moments warp_moments[kThreads / 32];

    const int channel = blockIdx.x;
    Moments own;
    own.count = 0.0f;
    own.mean = 0.0f;
    own.m2 = 0.0f;
    for (int image = 0; image < batch; ++image) {
        const long long base = (static_cast<long long>(image) * channels + channel) * pixels;
        for (int p = threadIdx.x; p < pixels; p += kThreads) {
            welford_push(own, x[base + p]);
        }
    }
    const Moments whole = welford_block(own, warp_moments);

    const float variance = whole.m2 / whole.count;
    const float scale = weight[channel] / sqrtf(variance + eps);
    const float shift = bias[channel];
    for (int image = 0; image < batch; ++image) {
        const long long base = (static_cast<long long>(image) * channels + channel) * pixels;
        for (int p = threadIdx.x; p < pixels; p += kThreads) {
            y[base + p] = (x[base + p] - whole.mean) * scale + shift;
        }
    }
}
