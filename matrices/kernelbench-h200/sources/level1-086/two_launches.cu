// Depthwise-separable convolution in two launches: the padded depthwise 3 x 3 convolution into a
// workspace, then the pointwise one as a matrix product of 24 output channels x 64 pixels a block.

constexpr int kTileW = 16;
constexpr int kTileH = 8;
constexpr int kPixels = 64;
constexpr int kOwn = 6;
constexpr int kChannels = 4 * kOwn;
constexpr int kStep = 8;
constexpr int kThreads = 128;

__global__ void depthwise_padded(const float* __restrict__ x, const float* __restrict__ weight,
                                 float* __restrict__ middle, int channels, int height, int width,
                                 int kernel, int padding) {
    const int col = blockIdx.x * kTileW + threadIdx.x;
    const int row = blockIdx.y * kTileH + threadIdx.y;
    if (col >= width || row >= height) {
        return;
    }
    const long long plane = blockIdx.z;
    const float* source = x + plane * height * width;
    const float* filter = weight + blockIdx.z % channels * kernel * kernel;
    float sum = 0.0f;
    for (int i = 0; i < kernel; ++i) {
        const int from_row = row + i - padding;
        for (int j = 0; j < kernel; ++j) {
            const int from_col = col + j - padding;
            if (from_row >= 0 && from_row < height && from_col >= 0 && from_col < width) {
                sum += source[from_row * width + from_col] * filter[i * kernel + j];
            }
        }
    }
    middle[(plane * height + row) * width + col] = sum;
}

__global__ void pointwise_product(const float* __restrict__ middle,
                                  const float* __restrict__ weight, float* __restrict__ y,
                                  int in_channels, int out_channels, int pixels) {
    __shared__ float a[kStep][kChannels];
    __shared__ float b[kStep][kPixels];

    const int first_pixel = blockIdx.x * kPixels;
    const int first_channel = blockIdx.y * kChannels;
    const float* image = middle + static_cast<long long>(blockIdx.z) * in_channels * pixels;
    const int tx = threadIdx.x % 32;
    const int ty = threadIdx.x / 32;

    float acc[kOwn][2] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kStep) {
        for (int i = threadIdx.x; i < kChannels * kStep; i += kThreads) {
            const int channel = first_channel + i / kStep;
            const int c = c0 + i % kStep;
            const bool inside = channel < out_channels && c < in_channels;
            a[i % kStep][i / kStep] = inside ? weight[channel * in_channels + c] : 0.0f;
        }
        for (int i = threadIdx.x; i < kStep * kPixels; i += kThreads) {
            const int c = c0 + i / kPixels;
            const int pixel = first_pixel + i % kPixels;
            const bool inside = c < in_channels && pixel < pixels;
            b[i / kPixels][i % kPixels] =
                inside ? image[static_cast<long long>(c) * pixels + pixel] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kStep; ++k) {
            const float b0 = b[k][tx];
            const float b1 = b[k][tx + 32];
#pragma unroll
            for (int r = 0; r < kOwn; ++r) {
                acc[r][0] += a[k][ty * kOwn + r] * b0;
                acc[r][1] += a[k][ty * kOwn + r] * b1;
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < kOwn; ++r) {
        const int channel = first_channel + ty * kOwn + r;
        for (int p = 0; p < 2; ++p) {
            const int pixel = first_pixel + tx + 32 * p;
            if (channel < out_channels && pixel < pixels) {
                const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
                y[plane * pixels + pixel] = acc[r][p];
            }
        }
    }
}
