// 3 x 3 x 3 transposed convolution, stride 1: a block of 8 x 8 x 2 threads owns a column of
// 8 x 8 outputs of two channels and marches along the depth. Each input slice is staged once an
// input channel; it adds to three output slices, which are kept in registers and shifted.

constexpr int kKernel = 3;
constexpr int kHalo = kKernel - 1;
constexpr int kTileH = 8;
constexpr int kTileW = 8;
constexpr int kChannels = 2;
constexpr int kThreads = kTileH * kTileW * kChannels;

__global__ void conv_transpose3d_marching(const float* __restrict__ x,
                                          const float* __restrict__ weight,
                                          float* __restrict__ y, int in_channels, int depth,
                                          int height, int width, int out_channels, int out_depth,
                                          int out_height, int out_width) {
    __shared__ float slice[kTileH + kHalo][kTileW + kHalo];

    const int tid = (threadIdx.z * kTileH + threadIdx.y) * kTileW + threadIdx.x;
    const int first_h = blockIdx.y * kTileH;
    const int first_w = blockIdx.x * kTileW;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const int channel = blockIdx.z % channel_blocks * kChannels + threadIdx.z;
    const long long image = blockIdx.z / channel_blocks;
    const int h = first_h + threadIdx.y;
    const int w = first_w + threadIdx.x;
    const bool owns = h < out_height && w < out_width && channel < out_channels;
    float* out = y + (image * out_channels + channel) * out_depth * out_height * out_width;

    // ahead[i]: the sum so far of output slice d + i.
    float ahead[kKernel] = {0.0f, 0.0f, 0.0f};
    for (int d = 0; d < out_depth; ++d) {
        if (d < depth) {
            for (int c = 0; c < in_channels; ++c) {
                const float* plane =
                    x + ((image * in_channels + c) * depth + d) * height * width;
                for (int i = tid; i < (kTileH + kHalo) * (kTileW + kHalo); i += kThreads) {
                    const int r = i / (kTileW + kHalo);
                    const int q = i % (kTileW + kHalo);
                    const int row = first_h + r - kHalo;
                    const int col = first_w + q - kHalo;
                    const bool inside = row >= 0 && row < height && col >= 0 && col < width;
                    slice[r][q] = inside ? plane[row * width + col] : 0.0f;
                }
                __syncthreads();

                // A thread without a channel of its own multiplies by another's weights.
                const int own = min(channel, out_channels - 1);
                const float* taps =
                    weight + (c * out_channels + own) * kKernel * kKernel * kKernel;
                for (int i = 0; i < kKernel; ++i) {
                    for (int j = 0; j < kKernel; ++j) {
                        const float value = slice[threadIdx.y + kHalo - i][threadIdx.x + kHalo - j];
#pragma unroll
                        for (int k = 0; k < kKernel; ++k) {
                            ahead[k] += value * taps[(k * kKernel + i) * kKernel + j];
                        }
                    }
                }
                __syncthreads();
            }
        }
        if (owns) {
            out[(d * out_height + h) * out_width + w] = ahead[0];
        }
        ahead[0] = ahead[1];
        ahead[1] = ahead[2];
        ahead[2] = 0.0f;
    }
}
