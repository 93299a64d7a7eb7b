// 3 x 3 convolution, division, LeakyReLU: a thread makes four neighbouring outputs of a row in four
// channels. Of the six inputs that a row of taps needs, four come as one vector where rows begin at
// aligned addresses; results go out the same way.

#include "conv_vector.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kThreadsX = 4;
constexpr int kThreadsY = 16;
constexpr int kOutputs = 4;
constexpr int kWindow = kOutputs + kKernel - 1;
constexpr int kChannels = 4;

struct Epilogue {
    float divisor;
    float slope;

    __device__ __forceinline__ float operator()(float value) const {
        value = value / divisor;
        return leaky_relu(value, slope);
    }
};

__global__ void conv2d_divide_leaky(const float* __restrict__ x, const float* __restrict__ weight,
                                    const float* __restrict__ bias, float* __restrict__ y,
                                    int in_channels, int height, int width, int out_channels,
                                    int out_height, int out_width, float divisor, float slope) {
    extern __shared__ float filters[];  // kChannels x in_channels x kTaps

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const long long image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const int terms = in_channels * kTaps;
    const int own = min(kChannels, out_channels - first_channel);
    for (int i = threadIdx.y * kThreadsX + threadIdx.x; i < own * terms;
         i += kThreadsX * kThreadsY) {
        filters[i] = weight[first_channel * terms + i];
    }
    __syncthreads();

    const int row = blockIdx.y * kThreadsY + threadIdx.y;
    const int first_col = (blockIdx.x * kThreadsX + threadIdx.x) * kOutputs;
    if (row >= out_height || first_col >= out_width) {
        return;
    }

    float acc[kChannels][kOutputs] = {};
    for (int c = 0; c < in_channels; ++c) {
        for (int r = 0; r < kKernel; ++r) {
            const float* line =
                x + ((image * in_channels + c) * height + row + r) * width + first_col;
            const int left = width - first_col;
            const float4 head = load4(line, left, width % 4 == 0);
            const float window[kWindow] = {head.x, head.y, head.z, head.w,
                                           left > 4 ? line[4] : 0.0f, left > 5 ? line[5] : 0.0f};
            for (int o = 0; o < own; ++o) {
                const float* filter = filters + o * terms + c * kTaps + r * kKernel;
#pragma unroll
                for (int s = 0; s < kKernel; ++s) {
#pragma unroll
                    for (int p = 0; p < kOutputs; ++p) {
                        acc[o][p] += window[p + s] * filter[s];
                    }
                }
            }
        }
    }

    const Epilogue epilogue{divisor, slope};
    for (int o = 0; o < own; ++o) {
        const float shift = bias[first_channel + o];
        const float4 values =
            make_float4(epilogue(acc[o][0] + shift), epilogue(acc[o][1] + shift),
                        epilogue(acc[o][2] + shift), epilogue(acc[o][3] + shift));
        const long long plane = image * out_channels + first_channel + o;
        store4(y + (plane * out_height + row) * out_width + first_col, values,
               out_width - first_col, out_width % 4 == 0);
    }
}
