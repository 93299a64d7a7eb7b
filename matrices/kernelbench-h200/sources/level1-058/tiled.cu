// 3 x 5 x 7 transposed convolution, stride 1: a block of 16 x 4 x 2 threads makes as many voxels
// of two output channels from a box of inputs in shared memory, one input channel at a time.

constexpr int kKernelD = 3;
constexpr int kKernelH = 5;
constexpr int kKernelW = 7;
constexpr int kTaps = kKernelD * kKernelH * kKernelW;
constexpr int kTileD = 2;
constexpr int kTileH = 4;
constexpr int kTileW = 16;
constexpr int kBoxD = kTileD + kKernelD - 1;
constexpr int kBoxH = kTileH + kKernelH - 1;
constexpr int kBoxW = kTileW + kKernelW - 1;
constexpr int kChannels = 2;
constexpr int kThreads = kTileD * kTileH * kTileW;

__global__ void __launch_bounds__(kThreads)
conv_transpose3d_tiled(const float* __restrict__ x, const float* __restrict__ weight,
                       float* __restrict__ y, int in_channels, int depth, int height, int width,
                       int out_channels, int out_depth, int out_height, int out_width) {
    __shared__ float box[kBoxD][kBoxH][kBoxW];
    __shared__ float taps[kChannels][kTaps];

    const int tid = (threadIdx.z * kTileH + threadIdx.y) * kTileW + threadIdx.x;
    const int blocks_h = (out_height + kTileH - 1) / kTileH;
    const int d0 = blockIdx.y / blocks_h * kTileD;
    const int h0 = blockIdx.y % blocks_h * kTileH;
    const int w0 = blockIdx.x * kTileW;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const size_t image = blockIdx.z / channel_blocks;
    const int channel = blockIdx.z % channel_blocks * kChannels;
    const int channels = min(kChannels, out_channels - channel);

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* volume = x + (image * in_channels + c) * depth * height * width;
        for (int i = tid; i < kBoxD * kBoxH * kBoxW; i += kThreads) {
            const int bd = i / (kBoxH * kBoxW);
            const int bh = i / kBoxW % kBoxH;
            const int bw = i % kBoxW;
            const int d = d0 + bd - (kKernelD - 1);
            const int h = h0 + bh - (kKernelH - 1);
            const int w = w0 + bw - (kKernelW - 1);
            const bool inside =
                d >= 0 && d < depth && h >= 0 && h < height && w >= 0 && w < width;
            box[bd][bh][bw] = inside ? volume[(d * height + h) * width + w] : 0.0f;
        }
        for (int i = tid; i < channels * kTaps; i += kThreads) {
            taps[i / kTaps][i % kTaps] = weight[(c * out_channels + channel) * kTaps + i];
        }
        __syncthreads();

        for (int i = 0; i < kKernelD; ++i) {
            for (int j = 0; j < kKernelH; ++j) {
#pragma unroll
                for (int k = 0; k < kKernelW; ++k) {
                    const float value =
                        box[threadIdx.z + kKernelD - 1 - i][threadIdx.y + kKernelH - 1 - j]
                           [threadIdx.x + kKernelW - 1 - k];
                    const int tap = (i * kKernelH + j) * kKernelW + k;
                    for (int o = 0; o < channels; ++o) {
                        acc[o] += value * taps[o][tap];
                    }
                }
            }
        }
        __syncthreads();
    }

    const int d = d0 + threadIdx.z;
    const int h = h0 + threadIdx.y;
    const int w = w0 + threadIdx.x;
    if (d < out_depth && h < out_height && w < out_width) {
        for (int o = 0; o < channels; ++o) {
            const size_t plane = (image * out_channels + channel + o) * out_depth + d;
            y[(plane * out_height + h) * out_width + w] = acc[o];
        }
    }
}
