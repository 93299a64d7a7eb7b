// 3 x 5 x 7 convolution with a register window along the innermost axis: a thread makes 4 outputs
// of one line, 2 threads the 8 of a block's tile, for 8 lines and 8 output channels.

constexpr int kQuads = 2;
constexpr int kLines = 8;
constexpr int kChannels = 8;
constexpr int kOutputs = 4;
constexpr int kTapsW = 3;
constexpr int kTapsH = 5;
constexpr int kTapsD = 7;
constexpr int kTaps = kTapsW * kTapsH * kTapsD;

__global__ void conv3d_sliding_depth(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ y, int in_channels, int width, int height,
                                     int depth, int out_channels, int out_width, int out_height,
                                     int out_depth) {
    __shared__ float filters[kChannels * kTaps];

    const int plane = blockIdx.z % out_width;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int group = blockIdx.z / out_width % groups;
    const int image = blockIdx.z / out_width / groups;
    const int channel = group * kChannels + threadIdx.z;
    const int line = blockIdx.y * kLines + threadIdx.y;
    const int first = (blockIdx.x * kQuads + threadIdx.x) * kOutputs;
    const int tid = (threadIdx.z * kLines + threadIdx.y) * kQuads + threadIdx.x;
    const bool active = line < out_height && first < out_depth && channel < out_channels;

    float acc[kOutputs] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int c = 0; c < in_channels; ++c) {
        for (int i = tid; i < kChannels * kTaps; i += kChannels * kLines * kQuads) {
            const int owner = group * kChannels + i / kTaps;
            if (owner < out_channels) {
                filters[i] = weight[(owner * in_channels + c) * kTaps + i % kTaps];
            }
        }
        __syncthreads();
        if (active) {
            const float* filter = filters + threadIdx.z * kTaps;
            for (int ab = 0; ab < kTapsW * kTapsH; ++ab) {
                const int a = plane + ab / kTapsH;
                const int b = line + ab % kTapsH;
                const float* source =
                    x + (((static_cast<long long>(image) * in_channels + c) * width + a) * height +
                         b) * depth;
                float window[kOutputs + kTapsD - 1];
                for (int t = 0; t < kOutputs + kTapsD - 1; ++t) {
                    window[t] = source[min(first + t, depth - 1)];
                }
                for (int t = 0; t < kTapsD; ++t) {
                    for (int p = 0; p < kOutputs; ++p) {
                        acc[p] += window[t + p] * filter[ab * kTapsD + t];
                    }
                }
            }
        }
        __syncthreads();
    }

    if (active) {
        const long long out =
            ((static_cast<long long>(image) * out_channels + channel) * out_width + plane) *
                out_height + line;
        for (int p = 0; p < min(kOutputs, out_depth - first); ++p) {
            y[out * out_depth + first + p] = acc[p];
        }
    }
}
