// 3 x 3 x 3 transposed convolution, stride 1: a thread makes two neighbouring outputs of a row,
// which share two of the inputs under each row of taps; a block makes 4 such pairs of 32 rows. The
// taps of its output channel for all input channels lie in (dynamic) shared memory.

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;

__global__ void conv_transpose3d_pairs(const float* __restrict__ x,
                                       const float* __restrict__ weight, float* __restrict__ y,
                                       int in_channels, int depth, int height, int width,
                                       int out_channels, int out_depth, int out_height,
                                       int out_width) {
    extern __shared__ float taps[];

    const int channel = blockIdx.z % out_channels;
    const int image = blockIdx.z / out_channels;
    const int threads = blockDim.x * blockDim.y;
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < in_channels * kTaps; i += threads) {
        taps[i] = weight[(i / kTaps * out_channels + channel) * kTaps + i % kTaps];
    }
    __syncthreads();

    const int w = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int line = blockIdx.y * blockDim.y + threadIdx.y;
    if (w >= out_width || line >= out_depth * out_height) {
        return;
    }
    const int d = line / out_height;
    const int h = line % out_height;

    float left = 0.0f;
    float right = 0.0f;
    for (int c = 0; c < in_channels; ++c) {
        const float* volume =
            x + (static_cast<long long>(image) * in_channels + c) * depth * height * width;
        for (int i = 0; i < kKernel; ++i) {
            if (d - i < 0 || d - i >= depth) {
                continue;
            }
            for (int j = 0; j < kKernel; ++j) {
                if (h - j < 0 || h - j >= height) {
                    continue;
                }
                const float* row = volume + ((d - i) * height + h - j) * width;
                const float* tap = taps + c * kTaps + (i * kKernel + j) * kKernel;
                const float before2 = w - 2 >= 0 && w - 2 < width ? row[w - 2] : 0.0f;
                const float before1 = w - 1 >= 0 && w - 1 < width ? row[w - 1] : 0.0f;
                const float here = w < width ? row[w] : 0.0f;
                const float after = w + 1 < width ? row[w + 1] : 0.0f;
                left += here * tap[0] + before1 * tap[1] + before2 * tap[2];
                right += after * tap[0] + here * tap[1] + before1 * tap[2];
            }
        }
    }

    const long long plane = static_cast<long long>(image) * out_channels + channel;
    float* out = y + ((plane * out_depth + d) * out_height + h) * out_width + w;
    out[0] = left;
    if (w + 1 < out_width) {
        out[1] = right;
    }
}
