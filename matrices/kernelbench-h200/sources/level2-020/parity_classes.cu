// 3 x 3 x 3 transposed convolution that doubles every axis, then ((t + bias + t) t) + t. The
// outputs split in eight classes by the parities of their coordinates; a block has one class, so
// all of its threads meet the same 1, 2, 4 or 8 taps. A thread makes one voxel of four channels,
// whose weights for a tap are staged for a group of input channels at a time.

constexpr int kChannels = 4;
constexpr int kStage = 16;
constexpr int kThreads = 64;
constexpr int kTaps = 27;

// An even coordinate meets tap 1 of the input at its half, an odd one tap 2 of that and tap 0 of
// the next.
__device__ __forceinline__ int tap_of(int parity, int next) {
    return parity == 0 ? 1 : 2 - 2 * next;
}

__global__ void __launch_bounds__(kThreads)
deconv_classes_residual(const float* __restrict__ x, const float* __restrict__ weight,
                        const float* __restrict__ bias, const float* __restrict__ sum_bias,
                        float* __restrict__ y, int in_channels, int depth, int height, int width,
                        int out_channels) {
    __shared__ float taps[kStage][kChannels];

    const int parity_d = blockIdx.z / 4 % 2;
    const int parity_h = blockIdx.z / 2 % 2;
    const int parity_w = blockIdx.z % 2;
    const int image = blockIdx.z / 8;
    const int first_channel = blockIdx.y * kChannels;
    const int voxels = depth * height * width;
    const int voxel = blockIdx.x * kThreads + threadIdx.x;
    const int d = voxel / (height * width);
    const int h = voxel / width % height;
    const int w = voxel % width;
    const float* volume = x + static_cast<long long>(image) * in_channels * voxels;

    float acc[kChannels] = {};
    for (int next = 0; next < 8; ++next) {
        const int next_d = next / 4;
        const int next_h = next / 2 % 2;
        const int next_w = next % 2;
        if (next_d > parity_d || next_h > parity_h || next_w > parity_w) {
            continue;
        }
        const int tap = (tap_of(parity_d, next_d) * 3 + tap_of(parity_h, next_h)) * 3 +
                        tap_of(parity_w, next_w);
        const bool inside = d + next_d < depth && h + next_h < height && w + next_w < width;
        const int source = ((d + next_d) * height + h + next_h) * width + w + next_w;

        for (int c0 = 0; c0 < in_channels; c0 += kStage) {
            for (int i = threadIdx.x; i < kStage * kChannels; i += kThreads) {
                const int c = c0 + i / kChannels;
                const int o = first_channel + i % kChannels;
                const bool exists = c < in_channels && o < out_channels;
                taps[i / kChannels][i % kChannels] =
                    exists ? weight[(c * out_channels + o) * kTaps + tap] : 0.0f;
            }
            __syncthreads();
            const int staged = min(kStage, in_channels - c0);
            if (inside) {
                for (int c = 0; c < staged; ++c) {
                    const float value = volume[(c0 + c) * voxels + source];
#pragma unroll
                    for (int o = 0; o < kChannels; ++o) {
                        acc[o] += value * taps[c][o];
                    }
                }
            }
            __syncthreads();
        }
    }
    if (voxel >= voxels) {
        return;
    }

    const int od = 2 * d + parity_d;
    const int oh = 2 * h + parity_h;
    const int ow = 2 * w + parity_w;
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const float original = acc[o] + bias[channel];
        float value = original + sum_bias[channel];
        value += original;
        value *= original;
        value += original;
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        y[plane * voxels * 8 + (od * 2 * height + oh) * 2 * width + ow] = value;
    }
}
