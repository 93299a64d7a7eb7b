// Dilated transposed convolution of signals by columns: a matrix product makes, for one signal,
// what every input sends through every tap; then each output collects its share.
#include "deconv_columns.cuh"

__global__ void fold_signal(const float* __restrict__ columns, float* __restrict__ y, int image,
                            int length, int out_channels, int out_length, int kernel,
                            int dilation) {
    const int out = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y * blockDim.y + threadIdx.y;
    if (out >= out_length || channel >= out_channels) {
        return;
    }
    const float* own = columns + static_cast<long long>(channel) * kernel * length;
    float sum = 0.0f;
    for (int k = 0; k < kernel; ++k) {
        const int source = out - k * dilation;
        if (source >= 0 && source < length) {
            sum += own[static_cast<long long>(k) * length + source];
        }
    }
    y[(static_cast<long long>(image) * out_channels + channel) * out_length + out] = sum;
}
