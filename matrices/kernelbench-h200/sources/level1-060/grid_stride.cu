// 3D convolution with any kernel: a grid-stride loop over all outputs, each of which finds its
// place by division and sums its patch alone.

__global__ void conv3d_grid_stride(const float* __restrict__ x, const float* __restrict__ weight,
                                   float* __restrict__ y, long long outputs, int in_channels,
                                   int width, int height, int depth, int out_channels,
                                   int out_width, int out_height, int out_depth, int kernel_width,
                                   int kernel_height, int kernel_depth) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long stride = static_cast<long long>(blockDim.x) * gridDim.x;
    for (long long index = first; index < outputs; index += stride) {
        long long rest = index;
        const int k = rest % out_depth;
        rest /= out_depth;
        const int j = rest % out_height;
        rest /= out_height;
        const int i = rest % out_width;
        rest /= out_width;
        const int channel = rest % out_channels;
        const long long image = rest / out_channels;

        const float* filter =
            weight + channel * in_channels * kernel_width * kernel_height * kernel_depth;
        float sum = 0.0f;
        for (int c = 0; c < in_channels; ++c) {
            for (int a = 0; a < kernel_width; ++a) {
                for (int b = 0; b < kernel_height; ++b) {
                    const long long line =
                        ((image * in_channels + c) * width + i + a) * height + j + b;
                    const float* source = x + line * depth + k;
                    for (int t = 0; t < kernel_depth; ++t) {
                        sum += source[t] * *filter++;
                    }
                }
            }
        }
        y[index] = sum;
    }
}
