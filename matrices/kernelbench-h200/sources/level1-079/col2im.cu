// Strided, padded and dilated transposed convolution of signals by columns: a matrix product makes,
// for one signal, what every input sends through every tap; each thread of the second kernel then
// collects an output from the taps that hit it.
#include "deconv_columns.cuh"
#include "deconv_source.cuh"

__global__ void fold_strided(const float* __restrict__ columns, float* __restrict__ y, int image,
                             int length, int out_channels, int out_length, int kernel, int stride,
                             int padding, int dilation) {
    const int out = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y * blockDim.y + threadIdx.y;
    if (out >= out_length || channel >= out_channels) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < kernel; ++k) {
        const int source = deconv_source(out, k, length, stride, padding, dilation);
        if (source >= 0) {
            sum += columns[static_cast<size_t>(channel * kernel + k) * length + source];
        }
    }
    y[(static_cast<size_t>(image) * out_channels + channel) * out_length + out] = sum;
}
