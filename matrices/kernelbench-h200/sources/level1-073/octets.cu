// 3 x 3 x 3 transposed convolution, stride 2, padding 1. Along an axis the even output 2 i sees
// input i through tap 1, the odd one 2 i + 1 input i through tap 2 and i + 1 through tap 0. A
// thread makes the 2 x 2 x 2 outputs that start at an even corner from 2 x 2 x 2 inputs.

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;

__global__ void conv_transpose3d_octets(const float* __restrict__ x,
                                        const float* __restrict__ weight, float* __restrict__ y,
                                        int in_channels, int depth, int height, int width,
                                        int out_channels) {
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    const int h = blockIdx.y * blockDim.y + threadIdx.y;
    const int slabs = (depth + blockDim.z - 1) / blockDim.z;
    const int d = blockIdx.z % slabs * blockDim.z + threadIdx.z;
    const int channel = blockIdx.z / slabs % out_channels;
    const long long image = blockIdx.z / slabs / out_channels;
    if (w >= width || h >= height || d >= depth) {
        return;
    }

    float acc[2][2][2] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* volume = x + (image * in_channels + c) * depth * height * width;
        const float* taps = weight + (c * out_channels + channel) * kTaps;
        for (int corner = 0; corner < 8; ++corner) {
            const int id = corner / 4, ih = corner / 2 % 2, iw = corner % 2;
            if (d + id >= depth || h + ih >= height || w + iw >= width) {
                continue;
            }
            const float value = volume[((d + id) * height + h + ih) * width + w + iw];
            // The far input of an axis (1) reaches the odd output only, through tap 0.
            for (int od = id; od < 2; ++od) {
                const int i = id == 1 ? 0 : 1 + od;
                for (int oh = ih; oh < 2; ++oh) {
                    const int j = ih == 1 ? 0 : 1 + oh;
                    for (int ow = iw; ow < 2; ++ow) {
                        const int k = iw == 1 ? 0 : 1 + ow;
                        acc[od][oh][ow] += value * taps[(i * kKernel + j) * kKernel + k];
                    }
                }
            }
        }
    }

    const int out_depth = 2 * depth - 1;
    const int out_height = 2 * height - 1;
    const int out_width = 2 * width - 1;
    float* out = y + (image * out_channels + channel) * out_depth * out_height * out_width;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            for (int k = 0; k < 2; ++k) {
                const int od = 2 * d + i;
                const int oh = 2 * h + j;
                const int ow = 2 * w + k;
                if (od < out_depth && oh < out_height && ow < out_width) {
                    out[(od * out_height + oh) * out_width + ow] = acc[i][j][k];
                }
            }
        }
    }
}
