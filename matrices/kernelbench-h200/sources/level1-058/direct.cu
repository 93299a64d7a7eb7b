// 3 x 5 x 7 transposed convolution, stride 1, no padding. A block makes 16 neighbouring outputs of
// 8 rows; the range of taps that meet an input is found once per axis, so
// that the inner loops have no branches.

constexpr int kDepth = 3;
constexpr int kHeight = 5;
constexpr int kWidth = 7;

__global__ void conv_transpose3d_direct(const float* __restrict__ x,
                                        const float* __restrict__ weight, float* __restrict__ y,
                                        int in_channels, int depth, int height, int width,
                                        int out_channels, int out_depth, int out_height,
                                        int out_width) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int line = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= out_width || line >= out_depth * out_height) {
        return;
    }
    const int slice = line / out_height;
    const int row = line % out_height;
    const int image = blockIdx.z / out_channels;
    const int channel = blockIdx.z % out_channels;

    // Tap k reads input out - k: taps from out - extent + 1 to out are inside.
    const int first_d = max(0, slice - depth + 1), last_d = min(kDepth - 1, slice);
    const int first_h = max(0, row - height + 1), last_h = min(kHeight - 1, row);
    const int first_w = max(0, col - width + 1), last_w = min(kWidth - 1, col);

    float sum = 0.0f;
    for (int c = 0; c < in_channels; ++c) {
        const float* volume =
            x + (static_cast<long long>(image) * in_channels + c) * depth * height * width;
        const float* taps = weight + (c * out_channels + channel) * (kDepth * kHeight * kWidth);
        for (int d = first_d; d <= last_d; ++d) {
            for (int h = first_h; h <= last_h; ++h) {
                const float* input = volume + ((slice - d) * height + row - h) * width + col;
                const float* tap = taps + (d * kHeight + h) * kWidth;
                for (int w = first_w; w <= last_w; ++w) {
                    sum += input[-w] * tap[w];
                }
            }
        }
    }
    const long long volume_out = static_cast<long long>(image) * out_channels + channel;
    y[((volume_out * out_depth + slice) * out_height + row) * out_width + col] = sum;
}
