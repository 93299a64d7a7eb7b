// Strided and dilated 1D convolution, one position a thread for 8 output channels, whose filters
// of all input channels lie in dynamic shared memory.

constexpr int kChannels = 8;

__global__ void conv1d_direct(const float* __restrict__ x, const float* __restrict__ weight,
                              float* __restrict__ y, int in_channels, int length, int out_channels,
                              int out_length, int kernel, int stride, int dilation) {
    extern __shared__ float filters[];

    const int first_channel = blockIdx.y * kChannels;
    const int present = min(kChannels, out_channels - first_channel);
    const int terms = in_channels * kernel;
    for (int i = threadIdx.x; i < present * terms; i += blockDim.x) {
        filters[i] = weight[first_channel * terms + i];
    }
    __syncthreads();

    const int position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position >= out_length) {
        return;
    }
    const long long image = blockIdx.z;
    const float* source = x + image * in_channels * length + position * stride;
    float sums[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        for (int k = 0; k < kernel; ++k) {
            const float value = source[k * dilation];
            for (int r = 0; r < kChannels; ++r) {
                if (r < present) {
                    sums[r] += value * filters[r * terms + c * kernel + k];
                }
            }
        }
        source += length;
    }
    for (int r = 0; r < present; ++r) {
        y[(image * out_channels + first_channel + r) * out_length + position] = sums[r];
    }
}
