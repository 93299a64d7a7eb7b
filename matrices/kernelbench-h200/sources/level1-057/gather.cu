// 3 x 3 transposed convolution, stride 1, one output a thread, 64 pixels of two channels a block:
// every output gathers the products of the taps that reach it.

__global__ void conv_transpose2d_gather(const float* __restrict__ x,
                                        const float* __restrict__ weight, float* __restrict__ y,
                                        int in_channels, int height, int width, int out_channels,
                                        int out_height, int out_width, int kernel) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y * blockDim.y + threadIdx.y;
    if (pixel >= out_height * out_width || channel >= out_channels) {
        return;
    }
    const int out_row = pixel / out_width;
    const int out_col = pixel % out_width;
    const long long image = blockIdx.z;

    float sum = 0.0f;
    for (int c = 0; c < in_channels; ++c) {
        const float* plane = x + (image * in_channels + c) * height * width;
        const float* own = weight + (c * out_channels + channel) * kernel * kernel;
        for (int i = 0; i < kernel; ++i) {
            const int row = out_row - i;
            if (row < 0 || row >= height) {
                continue;
            }
            for (int j = 0; j < kernel; ++j) {
                const int col = out_col - j;
                if (col < 0 || col >= width) {
                    continue;
                }
                sum += plane[row * width + col] * own[i * kernel + j];
            }
        }
    }
    y[(image * out_channels + channel) * out_height * out_width + pixel] = sum;
}
