// Transposed convolution of signals, three taps, stride 2, dilation 2, padding 1. Taps hit odd
// outputs only: thread q writes output 2 q, which is zero, and 2 q + 1, which sees the inputs
// q - 1, q and q + 1. A block makes 32 pairs of four output channels.

constexpr int kKernel = 3;
constexpr int kCells = 32;
constexpr int kChannels = 4;
constexpr int kStage = 8;

__global__ void conv_transpose1d_pairs(const float* __restrict__ x,
                                       const float* __restrict__ weight, float* __restrict__ y,
                                       int in_channels, int length, int out_channels) {
    // Signal with a neighbour on either side.
    __shared__ float signal[kStage][kCells + 2];
    __shared__ float taps[kStage][kChannels][kKernel];

    const int tid = threadIdx.y * kCells + threadIdx.x;
    const int first = blockIdx.x * kCells;
    const int cell = first + threadIdx.x;
    const int channel = blockIdx.y * kChannels + threadIdx.y;
    const size_t image = blockIdx.z;

    float odd = 0.0f;
    for (int c0 = 0; c0 < in_channels; c0 += kStage) {
        const int count = min(kStage, in_channels - c0);
        for (int i = tid; i < count * (kCells + 2); i += kCells * kChannels) {
            const int c = i / (kCells + 2);
            const int at = first + i % (kCells + 2) - 1;
            const bool inside = at >= 0 && at < length;
            signal[c][i % (kCells + 2)] =
                inside ? x[(image * in_channels + c0 + c) * length + at] : 0.0f;
        }
        for (int i = tid; i < count * kChannels * kKernel; i += kCells * kChannels) {
            const int c = i / (kChannels * kKernel);
            const int o = i / kKernel % kChannels;
            const int own = blockIdx.y * kChannels + o;
            taps[c][o][i % kKernel] =
                own < out_channels ? weight[((c0 + c) * out_channels + own) * kKernel + i % kKernel]
                                   : 0.0f;
        }
        __syncthreads();
        for (int c = 0; c < count; ++c) {
            const float* tap = taps[c][threadIdx.y];
            odd += signal[c][threadIdx.x + 2] * tap[0];
            odd += signal[c][threadIdx.x + 1] * tap[1];
            odd += signal[c][threadIdx.x] * tap[2];
        }
        __syncthreads();
    }

    if (channel < out_channels && cell <= length) {
        float* out = y + (image * out_channels + channel) * (2 * length + 1);
        out[2 * cell] = 0.0f;
        if (cell < length) {
            out[2 * cell + 1] = odd;
        }
    }
}
