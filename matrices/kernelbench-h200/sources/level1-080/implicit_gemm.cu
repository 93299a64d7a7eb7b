// 5 x 9 convolution with dilation 2 x 3 and padding 2 x 4 as an implicit matrix product: 128 pixels
// of the flat image x 16 channels a block of 256 threads, each 4 pixels x 2 channels. Terms that lie
// in the padding are staged as zeros.

constexpr int kTapsH = 5;
constexpr int kTapsW = 9;
constexpr int kPadH = 2;
constexpr int kPadW = 4;
constexpr int kDilationH = 2;
constexpr int kDilationW = 3;
constexpr int kPixels = 128;
constexpr int kChannels = 16;
constexpr int kStep = 16;
constexpr int kThreads = 256;

struct Tap {
    int channel;
    int row;
    int col;
};

__device__ __forceinline__ Tap tap_of(int term) {
    Tap tap;
    tap.channel = term / (kTapsH * kTapsW);
    const int rest = term - tap.channel * (kTapsH * kTapsW);
    tap.row = rest / kTapsW * kDilationH - kPadH;
    tap.col = rest % kTapsW * kDilationW - kPadW;
    return tap;
}

__global__ void conv2d_dilated_gemm(const float* __restrict__ x, const float* __restrict__ weight,
                                    float* __restrict__ y, int in_channels, int height, int width,
                                    int out_channels, int out_height, int out_width) {
    __shared__ float a[kChannels][kStep + 1];
    __shared__ float b[kStep][kPixels];

    const int pixels = out_height * out_width;
    const int terms = in_channels * kTapsH * kTapsW;
    const int first_pixel = blockIdx.x * kPixels;
    const int first_channel = blockIdx.y * kChannels;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * height * width;

    const int tx = threadIdx.x % 32;
    const int ty = threadIdx.x / 32;
    float acc[2][4] = {};
    for (int k0 = 0; k0 < terms; k0 += kStep) {
        const int channel = first_channel + threadIdx.x / kStep;
        const int term = k0 + threadIdx.x % kStep;
        a[threadIdx.x / kStep][threadIdx.x % kStep] =
            channel < out_channels && term < terms ? weight[channel * terms + term] : 0.0f;
        for (int i = threadIdx.x; i < kStep * kPixels; i += kThreads) {
            const int pixel = first_pixel + i % kPixels;
            float value = 0.0f;
            if (pixel < pixels && k0 + i / kPixels < terms) {
                const Tap tap = tap_of(k0 + i / kPixels);
                const int row = pixel / out_width + tap.row;
                const int col = pixel % out_width + tap.col;
                if (row >= 0 && row < height && col >= 0 && col < width) {
                    value = image[(tap.channel * height + row) * width + col];
                }
            }
            b[i / kPixels][i % kPixels] = value;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kStep; ++k) {
            for (int p = 0; p < 4; ++p) {
                const float value = b[k][tx + 32 * p];
                acc[0][p] += a[ty][k] * value;
                acc[1][p] += a[ty + 8][k] * value;
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < 2; ++r) {
        const int channel = first_channel + ty + 8 * r;
        for (int p = 0; p < 4; ++p) {
            const int pixel = first_pixel + tx + 32 * p;
            if (channel < out_channels && pixel < pixels) {
                const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
                y[plane * pixels + pixel] = acc[r][p];
            }
        }
    }
}
