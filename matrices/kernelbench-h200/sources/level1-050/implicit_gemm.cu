// 11 x 11 convolution with stride 4 and padding 2 as a matrix product that is never stored: rows
// are output channels, columns the output pixels of one image, the reduction runs over the taps.
// 128 threads make 24 channels (a quarter of the 96) x 16 pixels, each 3 channels of one pixel.

constexpr int kKernel = 11;
constexpr int kStride = 4;
constexpr int kPadding = 2;
constexpr int kTileM = 24;
constexpr int kTileN = 16;
constexpr int kTileK = 32;
constexpr int kThreads = 128;
constexpr int kRows = kTileM * kTileN / kThreads;

__global__ void conv2d_implicit_gemm(const float* __restrict__ x, const float* __restrict__ weight,
                                     const float* __restrict__ bias, float* __restrict__ y,
                                     int in_channels, int height, int width, int out_channels,
                                     int out_height, int out_width) {
    __shared__ float tile_w[kTileM][kTileK + 1];
    __shared__ float tile_x[kTileK][kTileN];

    const int tid = threadIdx.x;
    const int tx = tid % kTileN;
    const int ty = tid / kTileN;
    const int first_channel = blockIdx.y * kTileM;
    const int first_pixel = blockIdx.x * kTileN;
    const int pixels = out_height * out_width;
    const int taps = in_channels * kKernel * kKernel;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * height * width;

    float acc[kRows] = {};
    for (int k0 = 0; k0 < taps; k0 += kTileK) {
        for (int i = tid; i < kTileM * kTileK; i += kThreads) {
            const int channel = first_channel + i / kTileK;
            const int k = k0 + i % kTileK;
            const bool inside = channel < out_channels && k < taps;
            tile_w[i / kTileK][i % kTileK] = inside ? weight[channel * taps + k] : 0.0f;
        }
        for (int i = tid; i < kTileK * kTileN; i += kThreads) {
            const int k = k0 + i / kTileN;
            const int pixel = first_pixel + i % kTileN;
            const int c = k / (kKernel * kKernel);
            const int tap = k % (kKernel * kKernel);
            const int row = (pixel / out_width) * kStride - kPadding + tap / kKernel;
            const int col = (pixel % out_width) * kStride - kPadding + tap % kKernel;
            const bool inside = k < taps && pixel < pixels && row >= 0 && row < height &&
                                col >= 0 && col < width;
            tile_x[i / kTileN][i % kTileN] =
                inside ? image[(c * height + row) * width + col] : 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < kTileK; ++k) {
            const float value = tile_x[k][tx];
            for (int r = 0; r < kRows; ++r) {
                acc[r] += tile_w[ty * kRows + r][k] * value;
            }
        }
        __syncthreads();
    }

    const int pixel = first_pixel + tx;
    for (int r = 0; r < kRows; ++r) {
        const int channel = first_channel + ty * kRows + r;
        if (channel < out_channels && pixel < pixels) {
            const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
            y[plane * pixels + pixel] = acc[r] + bias[channel];
        }
    }
}
