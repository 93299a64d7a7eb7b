// 3 x 3 x 3 convolution as an implicit matrix product, with Mish and tanh on what it leaves in the
// registers. A step of the product takes the 27 taps of one input channel, so that the number of
// terms needs no bound of its own. 8 x 8 threads make 16 channels of 32 voxels, each 2 x 4 of them.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kChannels = 16;
constexpr int kVoxels = 32;
constexpr int kOwnChannels = 2;
constexpr int kOwnVoxels = 4;
constexpr int kThreads = (kChannels / kOwnChannels) * (kVoxels / kOwnVoxels);

__global__ void __launch_bounds__(kThreads)
conv3d_mish_tanh(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int in_channels, int depth,
                 int height, int width, int out_channels, int out_depth, int out_height,
                 int out_width) {
    // Staged along the taps, which would meet in one bank without the odd pitch.
    __shared__ float filters[kTaps][kChannels + 1];
    __shared__ float patches[kTaps][kVoxels];

    const int voxels = out_depth * out_height * out_width;
    const int first_voxel = blockIdx.x * kVoxels;
    const int first_channel = blockIdx.y * kChannels;
    const long long image = blockIdx.z;

    const int lane = threadIdx.x % kVoxels;
    const int staged = first_voxel + lane;
    const int layer = staged / (out_height * out_width);
    const int row = staged / out_width % out_height;
    const int corner = (layer * height + row) * width + staged % out_width;
    const int volume = depth * height * width;

    const int tx = threadIdx.x % (kVoxels / kOwnVoxels);
    const int ty = threadIdx.x / (kVoxels / kOwnVoxels);
    float acc[kOwnChannels][kOwnVoxels] = {};

    for (int c = 0; c < in_channels; ++c) {
        const float* plane = x + (image * in_channels + c) * volume;
        for (int tap = threadIdx.x / kVoxels; tap < kTaps; tap += kThreads / kVoxels) {
            const int i = tap / (kKernel * kKernel);
            const int j = tap / kKernel % kKernel;
            const int k = tap % kKernel;
            const int offset = (i * height + j) * width + k;
            patches[tap][lane] = staged < voxels ? plane[corner + offset] : 0.0f;
        }
        for (int i = threadIdx.x; i < kTaps * kChannels; i += kThreads) {
            const int channel = first_channel + i / kTaps;
            filters[i % kTaps][i / kTaps] =
                channel < out_channels ? weight[(channel * in_channels + c) * kTaps + i % kTaps]
                                       : 0.0f;
        }
        __syncthreads();

        for (int tap = 0; tap < kTaps; ++tap) {
            float fragment_w[kOwnChannels];
            float fragment_x[kOwnVoxels];
#pragma unroll
            for (int i = 0; i < kOwnChannels; ++i) {
                fragment_w[i] = filters[tap][ty * kOwnChannels + i];
            }
#pragma unroll
            for (int j = 0; j < kOwnVoxels; ++j) {
                fragment_x[j] = patches[tap][tx * kOwnVoxels + j];
            }
            outer_product(acc, fragment_w, fragment_x);
        }
        __syncthreads();
    }

    for (int i = 0; i < kOwnChannels; ++i) {
        const int channel = first_channel + ty * kOwnChannels + i;
        if (channel >= out_channels) {
            return;
        }
        float* target = y + (image * out_channels + channel) * voxels;
        for (int j = 0; j < kOwnVoxels; ++j) {
            const int voxel = first_voxel + tx * kOwnVoxels + j;
            if (voxel < voxels) {
                float value = acc[i][j] + bias[channel];
                value = mish(value);
                value = tanhf(value);
                target[voxel] = value;
            }
        }
    }
}
