// 2D convolution, one output a thread: a block computes 16 neighbouring outputs of one image row
// for 8 output channels, whose weights it keeps in (dynamic) shared memory.

constexpr int kCols = 16;
constexpr int kChannels = 8;

__global__ void conv2d_direct(const float* __restrict__ x, const float* __restrict__ weight,
                              const float* __restrict__ bias, float* __restrict__ y,
                              int in_channels, int height, int width, int out_channels,
                              int out_height, int out_width, int kernel, int stride, int padding) {
    extern __shared__ float weights[];

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = (blockIdx.z % groups) * kChannels;
    const int channel = first_channel + threadIdx.y;
    const int out_row = blockIdx.y;
    const int out_col = blockIdx.x * kCols + threadIdx.x;
    const int taps = in_channels * kernel * kernel;

    const int staged = min(kChannels, out_channels - first_channel) * taps;
    for (int i = threadIdx.y * kCols + threadIdx.x; i < staged; i += kCols * kChannels) {
        weights[i] = weight[first_channel * taps + i];
    }
    __syncthreads();

    if (channel >= out_channels || out_col >= out_width) {
        return;
    }

    const float* own_weights = weights + threadIdx.y * taps;
    const int first_row = out_row * stride - padding;
    const int first_col = out_col * stride - padding;
    float acc = bias[channel];
    for (int c = 0; c < in_channels; ++c) {
        const float* plane = x + (static_cast<long long>(image) * in_channels + c) * height * width;
        for (int i = 0; i < kernel; ++i) {
            const int row = first_row + i;
            if (row < 0 || row >= height) {
                continue;
            }
            for (int j = 0; j < kernel; ++j) {
                const int col = first_col + j;
                if (col >= 0 && col < width) {
                    acc += plane[row * width + col] * own_weights[(c * kernel + i) * kernel + j];
                }
            }
        }
    }
    const long long out_plane = static_cast<long long>(image) * out_channels + channel;
    y[(out_plane * out_height + out_row) * out_width + out_col] = acc;
}
