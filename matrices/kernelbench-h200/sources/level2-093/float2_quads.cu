// 4 x 4 transposed convolution of stride 2, a number added, the smaller of that and 0, GELU,
// doubled. A thread makes 2 x 2 outputs of one channel from up to four input pixels; its 16 weights
// lie together and come as four float4, its two rows of outputs go as float2.

#include "fused_activations.cuh"

__device__ __forceinline__ float input_at(const float* __restrict__ plane, int row, int col,
                                          int height, int width) {
    return row >= 0 && row < height && col >= 0 && col < width ? plane[row * width + col] : 0.0f;
}

__device__ __forceinline__ float finish(float value, float add_value, float multiply_value) {
    value += add_value;
    value = value > 0.0f ? 0.0f : value;
    value = gelu_erf(value);
    value *= multiply_value;
    return value;
}

__global__ void __launch_bounds__(64)
deconv_add_min_gelu(const float* __restrict__ x, const float4* __restrict__ weight,
                    const float* __restrict__ bias, float2* __restrict__ y, int in_channels,
                    int height, int width, int out_channels, float add_value,
                    float multiply_value) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row > height || col > width) {
        return;
    }
    const int channel = blockIdx.z % out_channels;
    const int image = blockIdx.z / out_channels;

    float2 upper = make_float2(bias[channel], bias[channel]);
    float2 lower = upper;
    for (int c = 0; c < in_channels; ++c) {
        const float* plane =
            x + (static_cast<long long>(image) * in_channels + c) * height * width;
        const float4* taps = weight + (c * out_channels + channel) * 4;
        const float4 first = taps[0];
        const float4 second = taps[1];
        const float4 third = taps[2];
        const float4 fourth = taps[3];
        const float here = input_at(plane, row, col, height, width);
        const float left = input_at(plane, row, col - 1, height, width);
        const float above = input_at(plane, row - 1, col, height, width);
        const float across = input_at(plane, row - 1, col - 1, height, width);
        upper.x += here * first.x + left * first.z + above * third.x + across * third.z;
        upper.y += here * first.y + left * first.w + above * third.y + across * third.w;
        lower.x += here * second.x + left * second.z + above * fourth.x + across * fourth.z;
        lower.y += here * second.y + left * second.w + above * fourth.y + across * fourth.w;
    }

    upper.x = finish(upper.x, add_value, multiply_value);
    upper.y = finish(upper.y, add_value, multiply_value);
    lower.x = finish(lower.x, add_value, multiply_value);
    lower.y = finish(lower.y, add_value, multiply_value);
    const long long out_row = static_cast<long long>(blockIdx.z) * 2 * (height + 1) + 2 * row;
    y[out_row * (width + 1) + col] = upper;
    y[(out_row + 1) * (width + 1) + col] = lower;
}
