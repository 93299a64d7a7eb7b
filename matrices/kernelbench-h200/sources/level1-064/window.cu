// Transposed convolution of signals, three taps, stride 1: a block makes 128 outputs for 4 output
// channels, a thread 4 neighbouring outputs, from a window of 6 inputs that it keeps in registers.

constexpr int kKernel = 3;
constexpr int kHalo = kKernel - 1;
constexpr int kLanes = 32;
constexpr int kEach = 4;
constexpr int kOutputs = kLanes * kEach;
constexpr int kChannels = 4;
constexpr int kStage = 8;

__global__ void conv_transpose1d_window(const float* __restrict__ x,
                                        const float* __restrict__ weight, float* __restrict__ y,
                                        int in_channels, int length, int out_channels,
                                        int out_length) {
    __shared__ float signal[kStage][kOutputs + kHalo];

    const int tid = threadIdx.y * kLanes + threadIdx.x;
    const int channel = blockIdx.y * kChannels + threadIdx.y;
    const int first = blockIdx.x * kOutputs;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * length;

    float acc[kEach] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kStage) {
        const int staged = min(kStage, in_channels - c0);
        for (int i = tid; i < staged * (kOutputs + kHalo); i += kLanes * kChannels) {
            const int c = i / (kOutputs + kHalo);
            const int at = first - kHalo + i % (kOutputs + kHalo);
            const bool inside = at >= 0 && at < length;
            signal[c][i % (kOutputs + kHalo)] =
                inside ? image[static_cast<long long>(c0 + c) * length + at] : 0.0f;
        }
        __syncthreads();

        if (channel < out_channels) {
            for (int c = 0; c < staged; ++c) {
                float window[kEach + kHalo];
#pragma unroll
                for (int i = 0; i < kEach + kHalo; ++i) {
                    window[i] = signal[c][threadIdx.x * kEach + i];
                }
                const float* taps = weight + ((c0 + c) * out_channels + channel) * kKernel;
#pragma unroll
                for (int k = 0; k < kKernel; ++k) {
                    const float tap = __ldg(&taps[k]);
#pragma unroll
                    for (int i = 0; i < kEach; ++i) {
                        acc[i] += window[i + kHalo - k] * tap;
                    }
                }
            }
        }
        __syncthreads();
    }

    if (channel >= out_channels) {
        return;
    }
    float* out = y + (static_cast<long long>(blockIdx.z) * out_channels + channel) * out_length;
    for (int i = 0; i < kEach; ++i) {
        const int at = first + threadIdx.x * kEach + i;
        if (at < out_length) {
            out[at] = acc[i];
        }
    }
}
