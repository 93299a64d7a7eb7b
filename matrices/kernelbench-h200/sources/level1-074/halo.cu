// Transposed convolution of signals, five taps three apart: a block makes 64 outputs of 8 output
// channels, a thread one output of four of them. Inputs with a halo of twelve to the left and the
// weights are staged for 4 input channels at a time.

constexpr int kKernel = 5;
constexpr int kDilation = 3;
constexpr int kHalo = kDilation * (kKernel - 1);
constexpr int kOutputs = 64;
constexpr int kChannels = 8;
constexpr int kEach = 4;
constexpr int kStage = 4;
constexpr int kThreads = kOutputs * kChannels / kEach;

__global__ void __launch_bounds__(kThreads)
conv_transpose1d_halo(const float* __restrict__ x, const float* __restrict__ weight,
                      float* __restrict__ y, int in_channels, int length, int out_channels,
                      int out_length) {
    __shared__ float signal[kStage][kHalo + kOutputs];
    __shared__ float taps[kStage][kKernel][kChannels];

    const int lane = threadIdx.x;
    const int first = blockIdx.x * kOutputs;
    const int own = threadIdx.y * kEach;
    const int first_channel = blockIdx.y * kChannels;
    const float* image = x + static_cast<size_t>(blockIdx.z) * in_channels * length;

    float acc[kEach] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kStage) {
        for (int c = threadIdx.y; c < kStage; c += blockDim.y) {
            const float* line = image + static_cast<size_t>(c0 + c) * length;
            const bool present = c0 + c < in_channels;
            const int at = first + lane;
            signal[c][kHalo + lane] = present && at < length ? line[at] : 0.0f;
            if (lane < kHalo) {
                const int left = at - kHalo;
                signal[c][lane] = present && left >= 0 && left < length ? line[left] : 0.0f;
            }
        }
        const int tid = threadIdx.y * kOutputs + lane;
        for (int i = tid; i < kStage * kKernel * kChannels; i += kThreads) {
            const int k = i % kKernel;
            const int o = i / kKernel % kChannels;
            const int c = i / kKernel / kChannels;
            const bool present = c0 + c < in_channels && first_channel + o < out_channels;
            taps[c][k][o] =
                present ? weight[((c0 + c) * out_channels + first_channel + o) * kKernel + k]
                        : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int c = 0; c < kStage; ++c) {
            for (int k = 0; k < kKernel; ++k) {
                const float value = signal[c][kHalo + lane - k * kDilation];
                for (int o = 0; o < kEach; ++o) {
                    acc[o] = fmaf(value, taps[c][k][own + o], acc[o]);
                }
            }
        }
        __syncthreads();
    }

    const int at = first + lane;
    if (at < out_length) {
        const int channel = first_channel + own;
        float* out = y + (static_cast<size_t>(blockIdx.z) * out_channels + channel) * out_length;
        for (int o = 0; o < kEach && channel + o < out_channels; ++o) {
            out[static_cast<size_t>(o) * out_length + at] = acc[o];
        }
    }
}
