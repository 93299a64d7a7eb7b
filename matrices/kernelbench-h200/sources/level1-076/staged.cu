// 1D convolution with stride 3 and dilation 4 from staged segments: 64 outputs need 198 samples,
// which overlap so that most are used; a block stages them for 5 input channels at a time and makes
// 12 output channels, each thread one position of 6 channels.

constexpr int kTile = 64;
constexpr int kStride = 3;
constexpr int kDilation = 4;
constexpr int kTaps = 3;
constexpr int kSegment = (kTile - 1) * kStride + (kTaps - 1) * kDilation + 1;
constexpr int kDepth = 5;
constexpr int kOwn = 6;
constexpr int kChannels = 2 * kOwn;
constexpr int kThreads = 2 * kTile;

__global__ void conv1d_staged(const float* __restrict__ x, const float* __restrict__ weight,
                              float* __restrict__ y, int in_channels, int length, int out_channels,
                              int out_length) {
    __shared__ float segments[kDepth][kSegment];
    __shared__ float filters[kDepth][kTaps][kChannels];

    const int lane = threadIdx.x % kTile;
    const int half = threadIdx.x / kTile;
    const int first = blockIdx.x * kTile;
    const int first_channel = blockIdx.y * kChannels;
    const long long image = blockIdx.z;

    float acc[kOwn] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kDepth) {
        for (int d = 0; d < kDepth && c0 + d < in_channels; ++d) {
            const float* row = x + (image * in_channels + c0 + d) * length;
            for (int i = threadIdx.x; i < kSegment; i += kThreads) {
                const int sample = first * kStride + i;
                segments[d][i] = sample < length ? row[sample] : 0.0f;
            }
        }
        for (int i = threadIdx.x; i < kDepth * kTaps * kChannels; i += kThreads) {
            const int channel = first_channel + i % kChannels;
            const int tap = i / kChannels % kTaps;
            const int c = c0 + i / (kChannels * kTaps);
            if (channel < out_channels && c < in_channels) {
                filters[i / (kChannels * kTaps)][tap][i % kChannels] =
                    weight[(channel * in_channels + c) * kTaps + tap];
            }
        }
        __syncthreads();
        const int depth = min(kDepth, in_channels - c0);
        for (int d = 0; d < depth; ++d) {
#pragma unroll
            for (int k = 0; k < kTaps; ++k) {
                const float value = segments[d][lane * kStride + k * kDilation];
#pragma unroll
                for (int r = 0; r < kOwn; ++r) {
                    acc[r] += value * filters[d][k][half * kOwn + r];
                }
            }
        }
        __syncthreads();
    }

    const int position = first + lane;
    for (int r = 0; r < kOwn; ++r) {
        const int channel = first_channel + half * kOwn + r;
        if (position < out_length && channel < out_channels) {
            y[(image * out_channels + channel) * out_length + position] = acc[r];
        }
    }
}
