// 3 x 3 x 3 convolution, softmax over the channels, max-pooling by two, twice. A block has the
// 4 x 4 x 4 voxels behind one output place, a thread each, and all channels of them. The lower
// three bits of a thread's number are its place in a window of the first pooling, the upper three
// the place of that window in one of the second: both poolings are exchanges between lanes, but
// for the last step, which is between the block's two warps. Voxels of no window are not computed.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kVoxels = 64;
constexpr int kOwn = 4;

__device__ __forceinline__ float exchange_max(float value, int lanes) {
    return nan_max(value, __shfl_xor_sync(0xffffffffu, value, lanes));
}

__global__ void __launch_bounds__(kVoxels)
conv3d_softmax_pool(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                    int depth, int height, int width, int out_channels, int last_depth,
                    int last_height, int last_width) {
    extern __shared__ float logits[];  // out_channels x kVoxels, then out_channels x 2
    float* halves = logits + out_channels * kVoxels;

    const int tid = threadIdx.x;
    const int place = blockIdx.x;
    const long long image = blockIdx.y;
    const int layer =
        place / (last_height * last_width) * 4 + (tid >> 5 & 1) * 2 + (tid >> 2 & 1);
    const int row = place / last_width % last_height * 4 + (tid >> 4 & 1) * 2 + (tid >> 1 & 1);
    const int col = place % last_width * 4 + (tid >> 3 & 1) * 2 + (tid & 1);
    const int terms = in_channels * kTaps;

    float top = -INFINITY;
    for (int first = 0; first < out_channels; first += kOwn) {
        const int own = min(kOwn, out_channels - first);
        float acc[kOwn] = {};
        for (int c = 0; c < in_channels; ++c) {
            const float* corner =
                x + (((image * in_channels + c) * depth + layer) * height + row) * width + col;
            const float* filter = weight + first * terms + c * kTaps;
            for (int tap = 0; tap < kTaps; ++tap) {
                const int i = tap / (kKernel * kKernel);
                const int j = tap / kKernel % kKernel;
                const float value = corner[(i * height + j) * width + tap % kKernel];
#pragma unroll
                for (int o = 0; o < kOwn; ++o) {
                    acc[o] += value * (o < own ? filter[o * terms + tap] : 0.0f);
                }
            }
        }
        for (int o = 0; o < own; ++o) {
            const float logit = acc[o] + bias[first + o];
            logits[(first + o) * kVoxels + tid] = logit;
            top = fmaxf(top, logit);
        }
    }

    // A thread reads its own logits alone.
    float total = 0.0f;
    for (int channel = 0; channel < out_channels; ++channel) {
        const float raised = expf(logits[channel * kVoxels + tid] - top);
        logits[channel * kVoxels + tid] = raised;
        total += raised;
    }

    for (int channel = 0; channel < out_channels; ++channel) {
        float value = logits[channel * kVoxels + tid] / total;
        value = exchange_max(value, 1);
        value = exchange_max(value, 2);
        value = exchange_max(value, 4);
        value = exchange_max(value, 8);
        value = exchange_max(value, 16);
        if (tid % 32 == 0) {
            halves[channel * 2 + tid / 32] = value;
        }
    }
    __syncthreads();

    const int places = last_depth * last_height * last_width;
    for (int channel = tid; channel < out_channels; channel += kVoxels) {
        const float value = nan_max(halves[channel * 2], halves[channel * 2 + 1]);
        y[(image * out_channels + channel) * places + place] = value;
    }
}
