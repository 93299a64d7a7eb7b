// 3 x 3 x 3 convolution, the smallest of each column of output layers, softmax over the channels,
// in one launch: a block has 16 columns, and eight threads for the channels of each. A thread
// marches through the input layers with three channels at a time, for which it keeps the sums of
// the three output layers that are not complete yet, and of the complete ones only the smallest.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kArea = kKernel * kKernel;
constexpr int kTaps = kKernel * kArea;
constexpr int kPixels = 16;
constexpr int kShares = 8;
constexpr int kOwn = 3;

__global__ void __launch_bounds__(kPixels * kShares)
conv3d_min_softmax(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                   int depth, int height, int width, int out_channels, int out_height,
                   int out_width) {
    extern __shared__ float minima[];  // out_channels x kPixels
    __shared__ float tops[kShares][kPixels];
    __shared__ float totals[kShares][kPixels];

    const int lane = threadIdx.x;
    const int share = threadIdx.y;
    const int pixels = out_height * out_width;
    const int pixel = blockIdx.x * kPixels + lane;
    const bool inside = pixel < pixels;
    const long long image = blockIdx.y;
    const int terms = in_channels * kTaps;

    for (int first = share * kOwn; inside && first < out_channels; first += kShares * kOwn) {
        const float* corner = x + image * in_channels * depth * height * width +
                              pixel / out_width * width + pixel % out_width;
        const float* filters[kOwn];
        float best[kOwn];
        float sums[kOwn][kKernel] = {};
        for (int o = 0; o < kOwn; ++o) {
            filters[o] = weight + min(first + o, out_channels - 1) * terms;
            best[o] = INFINITY;
        }

        for (int layer = 0; layer < depth; ++layer) {
            for (int c = 0; c < in_channels; ++c) {
                const float* plane = corner + (c * depth + layer) * height * width;
                for (int t = 0; t < kArea; ++t) {
                    const float value = plane[t / kKernel * width + t % kKernel];
#pragma unroll
                    for (int o = 0; o < kOwn; ++o) {
                        const float* taps = filters[o] + c * kTaps + t;
                        sums[o][0] += value * taps[2 * kArea];
                        sums[o][1] += value * taps[kArea];
                        sums[o][2] += value * taps[0];
                    }
                }
            }
            for (int o = 0; o < kOwn; ++o) {
                if (layer >= kKernel - 1) {
                    const float value = sums[o][0] + bias[min(first + o, out_channels - 1)];
                    best[o] = nan_min(best[o], value);
                }
                sums[o][0] = sums[o][1];
                sums[o][1] = sums[o][2];
                sums[o][2] = 0.0f;
            }
        }
        for (int o = 0; o < kOwn && first + o < out_channels; ++o) {
            minima[(first + o) * kPixels + lane] = best[o];
        }
    }
    __syncthreads();

    // From here on a thread has every eighth channel.
    float top = -INFINITY;
    for (int c = share; inside && c < out_channels; c += kShares) {
        top = fmaxf(top, minima[c * kPixels + lane]);
    }
    tops[share][lane] = top;
    __syncthreads();
    for (int s = 0; s < kShares; ++s) {
        top = fmaxf(top, tops[s][lane]);
    }

    float total = 0.0f;
    for (int c = share; inside && c < out_channels; c += kShares) {
        const float raised = expf(minima[c * kPixels + lane] - top);
        minima[c * kPixels + lane] = raised;
        total += raised;
    }
    totals[share][lane] = total;
    __syncthreads();
    total = 0.0f;
    for (int s = 0; s < kShares; ++s) {
        total += totals[s][lane];
    }

    for (int c = share; inside && c < out_channels; c += kShares) {
        y[(image * out_channels + c) * pixels + pixel] = minima[c * kPixels + lane] / total;
    }
}
