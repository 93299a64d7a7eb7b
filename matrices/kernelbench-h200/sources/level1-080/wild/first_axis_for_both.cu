// Direct convolution, one output a thread; both axes by the first one's settings.
__global__ void conv2d_first_axis(const float* x, const float* weight, float* y, int in_channels, int height,
                   int width, int out_channels, int out_height, int out_width, int kernel_height,
                   int kernel_width, int padding_height, int padding_width, int dilation_height,
                   int dilation_width, long long total) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) {
        return;
    }
    int ow = i % out_width;
    int oh = (i / out_width) % out_height;
    int oc = (i / ((long long)out_width * out_height)) % out_channels;
    long long b = i / ((long long)out_width * out_height * out_channels);
    float acc = 0.0f;
    for (int c = 0; c < in_channels; ++c) {
        for (int kh = 0; kh < kernel_height; ++kh) {
            for (int kw = 0; kw < kernel_width; ++kw) {
                int h = oh - padding_height + kh * dilation_height;
                int w = ow - padding_height + kw * dilation_height;
                if (h >= 0 && h < height && w >= 0 && w < width) {
                    acc += x[((b * in_channels + c) * height + h) * width + w] *
                           weight[((oc * in_channels + c) * kernel_height + kh) * kernel_width + kw];
                }
            }
        }
    }
    y[i] = acc;
}
