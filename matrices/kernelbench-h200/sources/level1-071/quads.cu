// 3 x 3 transposed convolution, stride 1: a thread makes 4 neighbouring outputs of a row from a
// window of 6 inputs. The window starts at an even column, so that it is read two floats at a time
// wherever it lies inside an image whose rows are aligned to two.

constexpr int kKernel = 3;
constexpr int kEach = 4;
constexpr int kWindow = kEach + kKernel - 1;

__global__ void conv_transpose2d_quads(const float* __restrict__ x,
                                       const float* __restrict__ weight, float* __restrict__ y,
                                       int in_channels, int height, int width, int out_channels,
                                       int out_height, int out_width) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kEach;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int channel_blocks = (out_channels + blockDim.z - 1) / blockDim.z;
    const int channel = blockIdx.z % channel_blocks * blockDim.z + threadIdx.z;
    const int image = blockIdx.z / channel_blocks;
    if (first >= out_width || row >= out_height || channel >= out_channels) {
        return;
    }
    const int left = first - (kKernel - 1);
    const bool vectorised = width % 2 == 0 && left >= 0 && left + kWindow <= width;

    float acc[kEach] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* plane = x + (static_cast<long long>(image) * in_channels + c) * height * width;
        const float* taps = weight + (c * out_channels + channel) * kKernel * kKernel;
#pragma unroll
        for (int i = 0; i < kKernel; ++i) {
            const int source = row - i;
            if (source < 0 || source >= height) {
                continue;
            }
            const float* line = plane + source * width + left;
            float window[kWindow];
            if (vectorised) {
                const float2* twos = reinterpret_cast<const float2*>(line);
#pragma unroll
                for (int q = 0; q < kWindow / 2; ++q) {
                    const float2 two = twos[q];
                    window[2 * q] = two.x;
                    window[2 * q + 1] = two.y;
                }
            } else {
                for (int q = 0; q < kWindow; ++q) {
                    window[q] = left + q >= 0 && left + q < width ? line[q] : 0.0f;
                }
            }
#pragma unroll
            for (int j = 0; j < kKernel; ++j) {
                const float tap = taps[i * kKernel + j];
#pragma unroll
                for (int q = 0; q < kEach; ++q) {
                    acc[q] = fmaf(window[q + kKernel - 1 - j], tap, acc[q]);
                }
            }
        }
    }

    const long long plane = static_cast<long long>(image) * out_channels + channel;
    float* out = y + (plane * out_height + row) * out_width + first;
    for (int q = 0; q < kEach && first + q < out_width; ++q) {
        out[q] = acc[q];
    }
}
