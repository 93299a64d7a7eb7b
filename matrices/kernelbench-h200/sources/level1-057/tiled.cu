// 3 x 3 transposed convolution, stride 1, no padding: a block of 16 x 8 threads makes a patch of
// 16 x 8 outputs for 4 output channels, which every thread keeps in registers. Input patches with
// their halo of two and the weights are staged for 4 input channels at a time.

constexpr int kKernel = 3;
constexpr int kHalo = kKernel - 1;
constexpr int kCols = 16;
constexpr int kRows = 8;
constexpr int kChannels = 4;
constexpr int kStage = 4;
constexpr int kThreads = kCols * kRows;
constexpr int kTaps = kKernel * kKernel;

__global__ void conv_transpose2d_tiled(const float* __restrict__ x,
                                       const float* __restrict__ weight, float* __restrict__ y,
                                       int in_channels, int height, int width, int out_channels,
                                       int out_height, int out_width) {
    __shared__ float patch[kStage][kRows + kHalo][kCols + kHalo];
    __shared__ float taps[kStage][kTaps][kChannels];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kCols + tx;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / channel_blocks;
    const int first_channel = (blockIdx.z % channel_blocks) * kChannels;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;
    const float* planes = x + static_cast<long long>(image) * in_channels * height * width;

    float acc[kChannels] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kStage) {
        for (int i = tid; i < kStage * (kRows + kHalo) * (kCols + kHalo); i += kThreads) {
            const int c = i / ((kRows + kHalo) * (kCols + kHalo));
            const int r = i / (kCols + kHalo) % (kRows + kHalo);
            const int q = i % (kCols + kHalo);
            const int row = first_row + r - kHalo;
            const int col = first_col + q - kHalo;
            const bool inside = c0 + c < in_channels && row >= 0 && row < height && col >= 0 &&
                                col < width;
            patch[c][r][q] =
                inside ? planes[(static_cast<long long>(c0 + c) * height + row) * width + col]
                       : 0.0f;
        }
        for (int i = tid; i < kStage * kChannels * kTaps; i += kThreads) {
            const int c = i / (kChannels * kTaps);
            const int o = i / kTaps % kChannels;
            const int tap = i % kTaps;
            const bool inside = c0 + c < in_channels && first_channel + o < out_channels;
            taps[c][tap][o] =
                inside ? weight[((c0 + c) * out_channels + first_channel + o) * kTaps + tap]
                       : 0.0f;
        }
        __syncthreads();

        for (int c = 0; c < kStage; ++c) {
#pragma unroll
            for (int tap = 0; tap < kTaps; ++tap) {
                const float value =
                    patch[c][ty + kHalo - tap / kKernel][tx + kHalo - tap % kKernel];
#pragma unroll
                for (int o = 0; o < kChannels; ++o) {
                    acc[o] += value * taps[c][tap][o];
                }
            }
        }
        __syncthreads();
    }

    const int row = first_row + ty;
    const int col = first_col + tx;
    if (row >= out_height || col >= out_width) {
        return;
    }
    for (int o = 0; o < kChannels; ++o) {
        const int channel = first_channel + o;
        if (channel < out_channels) {
            const long long plane = static_cast<long long>(image) * out_channels + channel;
            y[(plane * out_height + row) * out_width + col] = acc[o];
        }
    }
}
