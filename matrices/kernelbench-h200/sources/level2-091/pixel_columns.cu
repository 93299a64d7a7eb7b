// 4 x 4 transposed convolution of stride 2, padding 1 and output padding 1, softmax of the
// channels, a bias, scaled, sigmoid. A block has 16 output pixels and all of their channels in
// shared memory, so the logits never leave it; eight threads a pixel share the channels. Four taps
// at most reach a pixel, and which they are is found once.

#include "deconv_source.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"

constexpr int kKernel = 4;
constexpr int kTaps = kKernel * kKernel;
constexpr int kStride = 2;
constexpr int kPadding = 1;
constexpr int kPixels = 16;
constexpr int kLanes = 8;

extern __shared__ float logits[];

__global__ void __launch_bounds__(kPixels * kLanes)
deconv_softmax_sigmoid(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, const float* __restrict__ added,
                       float* __restrict__ y, int in_channels, int height, int width,
                       int out_channels, int out_height, int out_width, float scaling) {
    __shared__ float tops[kLanes][kPixels];
    __shared__ float totals[kLanes][kPixels];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int pixels = out_height * out_width;
    // Threads beyond the last pixel repeat it and store nothing.
    const int pixel = min(blockIdx.x * kPixels + tx, pixels - 1);
    const int row = pixel / out_width;
    const int col = pixel % out_width;
    const float* image = x + static_cast<long long>(blockIdx.y) * in_channels * height * width;

    int sources[4];
    int taps[4];
    int reaching = 0;
    for (int i = (row + kPadding) % kStride; i < kKernel; i += kStride) {
        const int from_row = deconv_source(row, i, height, kStride, kPadding, 1);
        for (int j = (col + kPadding) % kStride; j < kKernel; j += kStride) {
            const int from_col = deconv_source(col, j, width, kStride, kPadding, 1);
            if (from_row >= 0 && from_col >= 0) {
                sources[reaching] = from_row * width + from_col;
                taps[reaching] = i * kKernel + j;
                ++reaching;
            }
        }
    }

    float top = -INFINITY;
    for (int o = ty; o < out_channels; o += kLanes) {
        float acc = bias[o];
        for (int c = 0; c < in_channels; ++c) {
            const float* plane = image + c * height * width;
            const float* own = weight + (c * out_channels + o) * kTaps;
            for (int n = 0; n < reaching; ++n) {
                acc += plane[sources[n]] * own[taps[n]];
            }
        }
        logits[o * kPixels + tx] = acc;
        top = fmaxf(top, acc);
    }
    tops[ty][tx] = top;
    __syncthreads();
    for (int lane = 0; lane < kLanes; ++lane) {
        top = fmaxf(top, tops[lane][tx]);
    }

    float total = 0.0f;
    for (int o = ty; o < out_channels; o += kLanes) {
        const float e = expf(logits[o * kPixels + tx] - top);
        logits[o * kPixels + tx] = e;
        total += e;
    }
    totals[ty][tx] = total;
    __syncthreads();
    total = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) {
        total += totals[lane][tx];
    }

    if (blockIdx.x * kPixels + tx >= pixels) {
        return;
    }
    for (int o = ty; o < out_channels; o += kLanes) {
        float value = logits[o * kPixels + tx] / total;
        value += added[o];
        value *= scaling;
        value = logistic(value);
        y[(static_cast<long long>(blockIdx.y) * out_channels + o) * pixels + pixel] = value;
    }
}
