// 1D convolution with three taps: a block makes 64 positions of 24 channels from 6 staged input
// channels at a time; 16 x 8 threads, each 4 positions x 3 channels in registers.

constexpr int kTile = 64;
constexpr int kOwn = 3;
constexpr int kChannels = 8 * kOwn;
constexpr int kDepth = 6;
constexpr int kTaps = 3;
constexpr int kHalo = kTile + kTaps - 1;
constexpr int kThreads = 128;

__global__ void conv1d_tiled(const float* __restrict__ x, const float* __restrict__ weight,
                             float* __restrict__ y, int in_channels, int length, int out_channels,
                             int out_length) {
    __shared__ float signal[kDepth][kHalo];
    __shared__ float filters[kChannels][kDepth * kTaps];

    const int tx = threadIdx.x % 16;
    const int ty = threadIdx.x / 16;
    const int start = blockIdx.x * kTile;
    const int first_channel = blockIdx.y * kChannels;
    const float* rows = x + static_cast<long long>(blockIdx.z) * in_channels * length;

    float acc[kOwn][4] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kDepth) {
        for (int i = threadIdx.x; i < kDepth * kHalo; i += kThreads) {
            const int c = c0 + i / kHalo;
            const int position = start + i % kHalo;
            const bool inside = c < in_channels && position < length;
            signal[i / kHalo][i % kHalo] =
                inside ? rows[static_cast<long long>(c) * length + position] : 0.0f;
        }
        for (int i = threadIdx.x; i < kChannels * kDepth * kTaps; i += kThreads) {
            const int channel = i / (kDepth * kTaps);
            const int term = c0 * kTaps + i % (kDepth * kTaps);
            const bool inside = first_channel + channel < out_channels &&
                                term < in_channels * kTaps;
            filters[channel][i % (kDepth * kTaps)] =
                inside ? weight[(first_channel + channel) * in_channels * kTaps + term] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < kDepth; ++d) {
            for (int j = 0; j < kTaps; ++j) {
                float values[4];
                for (int p = 0; p < 4; ++p) {
                    values[p] = signal[d][tx + 16 * p + j];
                }
                for (int r = 0; r < kOwn; ++r) {
                    const float factor = filters[ty + 8 * r][d * kTaps + j];
                    for (int p = 0; p < 4; ++p) {
                        acc[r][p] += values[p] * factor;
                    }
                }
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < kOwn; ++r) {
        const int channel = first_channel + ty + 8 * r;
        if (channel >= out_channels) {
            continue;
        }
        const long long row = static_cast<long long>(blockIdx.z) * out_channels + channel;
        for (int p = 0; p < 4; ++p) {
            const int position = start + tx + 16 * p;
            if (position < out_length) {
                y[row * out_length + position] = acc[r][p];
            }
        }
    }
}
