// 3 x 7 transposed convolution, stride 1: a block makes 16 neighbouring outputs of two rows for 4
// output channels. The four input rows that reach them are staged for all input channels of a
// chunk, and the chunk's weights beside them; both lie in dynamic shared memory.

constexpr int kRows = 3;
constexpr int kTaps = 7;
constexpr int kCols = 16;
constexpr int kOutRows = 2;
constexpr int kChannels = 4;
constexpr int kSegment = kCols + kTaps - 1;
constexpr int kStaged = kOutRows + kRows - 1;
constexpr int kThreads = kCols * kOutRows * kChannels;

__global__ void conv_transpose2d_rows(const float* __restrict__ x,
                                      const float* __restrict__ weight, float* __restrict__ y,
                                      int in_channels, int height, int width, int out_channels,
                                      int out_height, int out_width, int chunk) {
    extern __shared__ float staged[];
    float* segments = staged;                              // chunk x kStaged x kSegment
    float* weights = staged + chunk * kStaged * kSegment;  // chunk x kChannels x kRows x kTaps

    const int own_channel = threadIdx.z;
    const int tid = (own_channel * kOutRows + threadIdx.y) * kCols + threadIdx.x;
    const int first_row = blockIdx.y * kOutRows;
    const int out_row = first_row + threadIdx.y;
    const int first_col = blockIdx.x * kCols;
    const int blocks = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / blocks;
    const int first_channel = blockIdx.z % blocks * kChannels;
    const int channels = min(kChannels, out_channels - first_channel);
    const int out_col = first_col + threadIdx.x;

    float sum = 0.0f;
    for (int c0 = 0; c0 < in_channels; c0 += chunk) {
        const int count = min(chunk, in_channels - c0);
        for (int i = tid; i < count * kStaged * kSegment; i += kThreads) {
            const int c = c0 + i / (kStaged * kSegment);
            const int row = first_row + i / kSegment % kStaged - (kRows - 1);
            const int col = first_col + i % kSegment - (kTaps - 1);
            float value = 0.0f;
            if (row >= 0 && row < height && col >= 0 && col < width) {
                const long long plane = static_cast<long long>(image) * in_channels + c;
                value = x[(plane * height + row) * width + col];
            }
            segments[i] = value;
        }
        for (int i = tid; i < count * channels * kRows * kTaps; i += kThreads) {
            const int c = i / (channels * kRows * kTaps);
            const int rest = i % (channels * kRows * kTaps);
            weights[c * kChannels * kRows * kTaps + rest] =
                weight[((c0 + c) * out_channels + first_channel) * kRows * kTaps + rest];
        }
        __syncthreads();

        if (own_channel < channels) {
            for (int c = 0; c < count; ++c) {
                const float* own = weights + (c * kChannels + own_channel) * kRows * kTaps;
                for (int i = 0; i < kRows; ++i) {
                    // Of the elements that this output sees in a row, the last belongs to tap 0.
                    const int row = threadIdx.y + kRows - 1 - i;
                    const float* last =
                        segments + (c * kStaged + row) * kSegment + threadIdx.x + kTaps - 1;
#pragma unroll
                    for (int j = 0; j < kTaps; ++j) {
                        sum += last[-j] * own[i * kTaps + j];
                    }
                }
            }
        }
        __syncthreads();
    }

    if (own_channel < channels && out_row < out_height && out_col < out_width) {
        const long long plane =
            static_cast<long long>(image) * out_channels + first_channel + own_channel;
        y[(plane * out_height + out_row) * out_width + out_col] = sum;
    }
}
