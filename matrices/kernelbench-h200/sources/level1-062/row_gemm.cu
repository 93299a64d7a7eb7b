// 5 x 9 convolution as a small matrix product for each output row: 8 channels x 32 pixels a block.
// The five input lines that the row needs of one channel are staged once; their 45 shifted views
// are the columns of the patch matrix, which exists only as addresses.

constexpr int kPixels = 32;
constexpr int kGroups = 4;
constexpr int kOwn = 2;
constexpr int kTapsH = 5;
constexpr int kTapsW = 9;
constexpr int kTaps = kTapsH * kTapsW;
constexpr int kLine = kPixels + kTapsW - 1;
constexpr int kThreads = kPixels * kGroups;

__global__ void conv2d_row_gemm(const float* __restrict__ x, const float* __restrict__ weight,
                                float* __restrict__ y, int in_channels, int height, int width,
                                int out_channels, int out_height, int out_width) {
    __shared__ float lines[kTapsH][kLine];
    __shared__ float filters[kTaps][kGroups * kOwn];

    const int lane = threadIdx.x % kPixels;
    const int group = threadIdx.x / kPixels;
    const int first_pixel = blockIdx.x * kPixels;
    const int image = blockIdx.y / out_height;
    const int row = blockIdx.y % out_height;
    const int first_channel = blockIdx.z * kGroups * kOwn;

    float acc[kOwn] = {};
    for (int c = 0; c < in_channels; ++c) {
        const long long plane = static_cast<long long>(image) * in_channels + c;
        const float* source = x + (plane * height + row) * width + first_pixel;
        for (int i = group; i < kTapsH; i += kGroups) {
            for (int j = lane; j < kLine; j += kPixels) {
                lines[i][j] = first_pixel + j < width ? source[i * width + j] : 0.0f;
            }
        }
        for (int i = threadIdx.x; i < kTaps * kGroups * kOwn; i += kThreads) {
            const int channel = first_channel + i / kTaps;
            filters[i % kTaps][i / kTaps] =
                channel < out_channels ? weight[(channel * in_channels + c) * kTaps + i % kTaps]
                                       : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
            const float value = lines[tap / kTapsW][lane + tap % kTapsW];
            for (int r = 0; r < kOwn; ++r) {
                acc[r] += value * filters[tap][group * kOwn + r];
            }
        }
        __syncthreads();
    }

    const int pixel = first_pixel + lane;
    if (pixel >= out_width) {
        return;
    }
    for (int r = 0; r < kOwn; ++r) {
        const int channel = first_channel + group * kOwn + r;
        if (channel < out_channels) {
            const long long plane = static_cast<long long>(image) * out_channels + channel;
            y[(plane * out_height + row) * out_width + pixel] = acc[r];
        }
    }
}
