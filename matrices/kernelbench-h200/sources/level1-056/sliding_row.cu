// 5 x 7 convolution with a register window: a thread makes 4 neighbouring outputs of one row and
// one channel, so that the 10 inputs it loads per filter row serve 28 products. 8 threads cover 32
// columns, 16 the channels of a block, whose filters for one input channel lie in shared memory.

constexpr int kThreadsX = 8;
constexpr int kChannels = 16;
constexpr int kOutputs = 4;
constexpr int kTapsH = 5;
constexpr int kTapsW = 7;
constexpr int kTaps = kTapsH * kTapsW;
constexpr int kWindow = kOutputs + kTapsW - 1;

__global__ void conv2d_sliding_row(const float* __restrict__ x, const float* __restrict__ weight,
                                   float* __restrict__ y, int in_channels, int height, int width,
                                   int out_channels, int out_height, int out_width) {
    __shared__ float filters[kChannels][kTaps];

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int group = blockIdx.z % groups;
    const int channel = group * kChannels + threadIdx.y;
    const int out_row = blockIdx.y;
    const int first_col = (blockIdx.x * kThreadsX + threadIdx.x) * kOutputs;
    const int tid = threadIdx.y * kThreadsX + threadIdx.x;

    float acc[kOutputs] = {};
    for (int c = 0; c < in_channels; ++c) {
        for (int i = tid; i < kChannels * kTaps; i += kThreadsX * kChannels) {
            const int owner = group * kChannels + i / kTaps;
            filters[i / kTaps][i % kTaps] =
                owner < out_channels ? weight[(owner * in_channels + c) * kTaps + i % kTaps] : 0.0f;
        }
        __syncthreads();

        const float* plane = x + (static_cast<long long>(image) * in_channels + c) * height * width;
        for (int i = 0; i < kTapsH; ++i) {
            const float* line = plane + (out_row + i) * width;
            float window[kWindow];
#pragma unroll
            for (int t = 0; t < kWindow; ++t) {
                window[t] = first_col + t < width ? line[first_col + t] : 0.0f;
            }
#pragma unroll
            for (int j = 0; j < kTapsW; ++j) {
                const float factor = filters[threadIdx.y][i * kTapsW + j];
#pragma unroll
                for (int p = 0; p < kOutputs; ++p) {
                    acc[p] += window[p + j] * factor;
                }
            }
        }
        __syncthreads();
    }

    if (channel < out_channels) {
        const long long out = static_cast<long long>(image) * out_channels + channel;
        float* line = y + (out * out_height + out_row) * out_width;
        for (int p = 0; p < kOutputs && first_col + p < out_width; ++p) {
            line[first_col + p] = acc[p];
        }
    }
}
