// Padded and dilated 2D convolution, one pixel a thread for 4 output channels: taps that fall into
// the padding are skipped. The 4 channels' filters lie in dynamic shared memory as they are stored.

constexpr int kCols = 32;
constexpr int kRows = 4;
constexpr int kChannels = 4;

__global__ void conv2d_dilated(const float* __restrict__ x, const float* __restrict__ weight,
                               float* __restrict__ y, int in_channels, int height, int width,
                               int out_channels, int out_height, int out_width, int kernel_height,
                               int kernel_width, int padding_height, int padding_width,
                               int dilation_height, int dilation_width) {
    extern __shared__ float filters[];

    const int terms = in_channels * kernel_height * kernel_width;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = (blockIdx.z % groups) * kChannels;
    const int present = min(kChannels, out_channels - first_channel);
    for (int i = threadIdx.y * kCols + threadIdx.x; i < kChannels * terms; i += kCols * kRows) {
        filters[i] = i < present * terms ? weight[first_channel * terms + i] : 0.0f;
    }
    __syncthreads();

    const int out_col = blockIdx.x * kCols + threadIdx.x;
    const int out_row = blockIdx.y * kRows + threadIdx.y;
    if (out_col >= out_width || out_row >= out_height) {
        return;
    }

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* plane = x + (static_cast<long long>(image) * in_channels + c) * height * width;
        for (int i = 0; i < kernel_height; ++i) {
            const int row = out_row - padding_height + i * dilation_height;
            if (row < 0 || row >= height) {
                continue;
            }
            for (int j = 0; j < kernel_width; ++j) {
                const int col = out_col - padding_width + j * dilation_width;
                if (col < 0 || col >= width) {
                    continue;
                }
                const float value = plane[row * width + col];
                const float* filter = filters + (c * kernel_height + i) * kernel_width + j;
                for (int r = 0; r < kChannels; ++r) {
                    acc[r] += value * filter[r * terms];
                }
            }
        }
    }

    for (int r = 0; r < present; ++r) {
        const long long plane = static_cast<long long>(image) * out_channels + first_channel + r;
        y[(plane * out_height + out_row) * out_width + out_col] = acc[r];
    }
}
