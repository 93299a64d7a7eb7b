// Padded 3 x 3 x 3 convolution, max-pooling by two, log-sum-exp over the channels, ReLU. The first
// kernel stages a slab of one input channel with its halo: a thread takes 4 x 4 x 4 inputs of it
// into registers and makes the eight outputs of a window of two channels; of a block's threads one
// half has the first two channels, the other the next two. The second kernel goes over the
// channels of a pooled voxel twice.

#include "conv3d_octet.cuh"
#include "conv3d_slab.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kTaps = 27;
constexpr int kPadding = 1;
constexpr int kPool = 2;
constexpr int kOctet = 8;
constexpr int kTile = 4;  // windows across and down
constexpr int kLayers = 2;
constexpr int kHalves = 2;
constexpr int kOwn = 2;
constexpr int kChannels = kHalves * kOwn;
constexpr int kReach = 4;
constexpr int kSlabSide = kTile * kPool + 2;
constexpr int kSlabLayers = kLayers * kPool + 2;
constexpr int kThreads = kTile * kTile * kLayers * kHalves;

__global__ void __launch_bounds__(kThreads)
conv3d_max(const float* __restrict__ x, const float* __restrict__ weight,
           const float* __restrict__ bias, float* __restrict__ pooled, int in_channels, int depth,
           int height, int width, int out_channels, int pool_depth, int pool_height,
           int pool_width) {
    __shared__ float slab[kSlabLayers][kSlabSide][kSlabSide];
    __shared__ float taps[kChannels][kTaps];

    const int tid = (threadIdx.z * kTile + threadIdx.y) * kTile + threadIdx.x;
    const int storeys = (pool_depth + kLayers - 1) / kLayers;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int storey = blockIdx.z % storeys;
    const int first_channel = blockIdx.z / storeys % groups * kChannels;
    const long long image = blockIdx.z / storeys / groups;
    const int tz = threadIdx.z % kLayers;
    const int half = threadIdx.z / kLayers;

    float acc[kOwn][kOctet] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* volume = x + (image * in_channels + c) * depth * height * width;
        stage_slab<kThreads>(slab, volume, storey * kLayers * kPool - kPadding,
                             blockIdx.y * kTile * kPool - kPadding,
                             blockIdx.x * kTile * kPool - kPadding, depth, height, width, tid);
        for (int i = tid; i < kChannels * kTaps; i += kThreads) {
            const int channel = min(first_channel + i / kTaps, out_channels - 1);
            taps[i / kTaps][i % kTaps] =
                weight[(channel * in_channels + c) * kTaps + i % kTaps];
        }
        __syncthreads();

        float cube[kReach][kReach][kReach];
#pragma unroll
        for (int i = 0; i < kReach; ++i) {
#pragma unroll
            for (int j = 0; j < kReach; ++j) {
#pragma unroll
                for (int k = 0; k < kReach; ++k) {
                    cube[i][j][k] =
                        slab[tz * kPool + i][threadIdx.y * kPool + j][threadIdx.x * kPool + k];
                }
            }
        }
        octet_of_cube(acc[0], cube, taps[half * kOwn]);
        octet_of_cube(acc[1], cube, taps[half * kOwn + 1]);
        __syncthreads();
    }

    const int layer = storey * kLayers + tz;
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int col = blockIdx.x * kTile + threadIdx.x;
    if (layer >= pool_depth || row >= pool_height || col >= pool_width) {
        return;
    }
    for (int o = 0; o < kOwn; ++o) {
        const int channel = first_channel + half * kOwn + o;
        if (channel >= out_channels) {
            break;
        }
        float largest = -INFINITY;
        for (int v = 0; v < kOctet; ++v) {
            const float value = acc[o][v] + bias[channel];
            largest = nan_max(largest, value);
        }
        const long long plane = (image * out_channels + channel) * pool_depth + layer;
        pooled[(plane * pool_height + row) * pool_width + col] = largest;
    }
}

__global__ void logsumexp_relu(const float* __restrict__ pooled, float* __restrict__ y, int batch,
                               int out_channels, int voxels) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= batch * voxels) {
        return;
    }
    const float* column =
        pooled + static_cast<long long>(at / voxels) * out_channels * voxels + at % voxels;
    float top = -INFINITY;
    for (int channel = 0; channel < out_channels; ++channel) {
        top = fmaxf(top, column[static_cast<long long>(channel) * voxels]);
    }
    // An infinity must not be taken from itself.
    top = fabsf(top) == INFINITY ? 0.0f : top;
    float total = 0.0f;
    for (int channel = 0; channel < out_channels; ++channel) {
        total += expf(column[static_cast<long long>(channel) * voxels] - top);
    }
    float value = top + logf(total);
    value = relu(value);
    y[at] = value;
}
