// 3 x 3 x 3 transposed convolution, stride 2, dilation 2, padding 1: taps hit outputs with three
// odd coordinates only, which are an ordinary stride 1 convolution of the inputs. Thread (d, h, w)
// makes that of output (2 d + 1, 2 h + 1, 2 w + 1) and zeroes the seven others of its 2 x 2 x 2.

constexpr int kKernel = 3;

__global__ void conv_transpose3d_lattice(const float* __restrict__ x,
                                         const float* __restrict__ weight, float* __restrict__ y,
                                         int in_channels, int depth, int height, int width,
                                         int out_channels) {
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    const int line = blockIdx.y * blockDim.y + threadIdx.y;
    const int channel = blockIdx.z % out_channels;
    const size_t image = blockIdx.z / out_channels;
    // One cell more than inputs along each axis: the last coordinate of an output is even.
    if (w > width || line >= (depth + 1) * (height + 1)) {
        return;
    }
    const int d = line / (height + 1);
    const int h = line % (height + 1);

    float sum = 0.0f;
    if (d < depth && h < height && w < width) {
        for (int c = 0; c < in_channels; ++c) {
            const float* volume = x + (image * in_channels + c) * depth * height * width;
            const float* tap = weight + (c * out_channels + channel) * kKernel * kKernel * kKernel;
            for (int i = 1; i >= -1; --i) {
                for (int j = 1; j >= -1; --j) {
                    for (int k = 1; k >= -1; --k, ++tap) {
                        const bool inside = d + i >= 0 && d + i < depth && h + j >= 0 &&
                                            h + j < height && w + k >= 0 && w + k < width;
                        if (inside) {
                            sum += *tap * volume[((d + i) * height + h + j) * width + w + k];
                        }
                    }
                }
            }
        }
    }

    const int out_depth = 2 * depth + 1;
    const int out_height = 2 * height + 1;
    const int out_width = 2 * width + 1;
    float* out = y + (image * out_channels + channel) * out_depth * out_height * out_width;
    for (int corner = 0; corner < 8; ++corner) {
        const int od = 2 * d + corner / 4;
        const int oh = 2 * h + corner / 2 % 2;
        const int ow = 2 * w + corner % 2;
        if (od < out_depth && oh < out_height && ow < out_width) {
            out[(od * out_height + oh) * out_width + ow] = corner == 7 ? sum : 0.0f;
        }
    }
}
