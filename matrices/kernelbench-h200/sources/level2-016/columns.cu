// The same by columns: for one image after another the matrix product of all taps with all input
// pixels, then a kernel in which every output gathers the one, two or four columns that reach it.

#include "deconv_columns.cuh"
#include "deconv_source.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;

__global__ void gather_mish_hardtanh(const float* __restrict__ columns,
                                     const float* __restrict__ bias, float* __restrict__ y,
                                     int image, int height, int width, int out_channels,
                                     int out_height, int out_width, float add_value,
                                     float scale) {
    const int outputs = out_channels * out_height * out_width;
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += step) {
        const int col = i % out_width;
        const int row = i / out_width % out_height;
        const int channel = i / (out_width * out_height);
        float value = 0.0f;
        for (int tap = 0; tap < kKernel * kKernel; ++tap) {
            const int from_row = deconv_source(row, tap / kKernel, height, 2, 1, 1);
            const int from_col = deconv_source(col, tap % kKernel, width, 2, 1, 1);
            if (from_row >= 0 && from_col >= 0) {
                const long long m = channel * kKernel * kKernel + tap;
                value += columns[(m * height + from_row) * width + from_col];
            }
        }
        value += bias[channel];
        value = mish(value);
        value += add_value;
        value = value < -1.0f ? -1.0f : value;
        value = value > 1.0f ? 1.0f : value;
        value *= scale;
        y[static_cast<long long>(image) * outputs + i] = value;
    }
}
