// 3 x 5 x 5 transposed convolution, stride 1, with the input channels split over blockIdx.z:
// partial sums go to a workspace of splits x outputs, which a second kernel adds up.

__global__ void conv_transpose3d_partial(const float* __restrict__ x,
                                         const float* __restrict__ weight,
                                         float* __restrict__ partial, int in_channels, int depth,
                                         int height, int width, int out_channels, int out_depth,
                                         int out_height, int out_width, int kernel_depth,
                                         int kernel_height, int kernel_width, int splits,
                                         long long outputs) {
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y * blockDim.y + threadIdx.y;
    if (voxel >= voxels || channel >= out_channels) {
        return;
    }
    const int image = blockIdx.z / splits;
    const int split = blockIdx.z % splits;
    const int begin = in_channels * split / splits;
    const int end = in_channels * (split + 1) / splits;

    const int d = voxel / (out_height * out_width);
    const int h = voxel / out_width % out_height;
    const int w = voxel % out_width;
    float acc = 0.0f;
    for (int c = begin; c < end; ++c) {
        const long long volume = (static_cast<long long>(image) * in_channels + c) * depth;
        const float* tap =
            weight + (c * out_channels + channel) * kernel_depth * kernel_height * kernel_width;
        for (int i = d; i > d - kernel_depth; --i) {
            for (int j = h; j > h - kernel_height; --j) {
                for (int k = w; k > w - kernel_width; --k, ++tap) {
                    const bool inside = static_cast<unsigned>(i) < static_cast<unsigned>(depth) &&
                                        static_cast<unsigned>(j) < static_cast<unsigned>(height) &&
                                        static_cast<unsigned>(k) < static_cast<unsigned>(width);
                    if (inside) {
                        acc += x[((volume + i) * height + j) * width + k] * *tap;
                    }
                }
            }
        }
    }
    const long long index = (static_cast<long long>(image) * out_channels + channel) * voxels;
    partial[split * outputs + index + voxel] = acc;
}

__global__ void conv_transpose3d_combine(const float* __restrict__ partial, float* __restrict__ y,
                                         int splits, long long outputs) {
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < outputs) {
        float total = partial[index];
        for (int s = 1; s < splits; ++s) {
            total += partial[s * outputs + index];
        }
        y[index] = total;
    }
}
