// Max pooling, one output a thread; NaN passes through, as in torch.
#define MINUS_INFINITY __int_as_float(0xff800000)

__global__ void maxpool_output_a_thread(const float* x, float* y, int height, int width, int out_height, int out_width,
                   int kernel, int stride, int padding, int dilation, long long total) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) {
        return;
    }
    int ow = i % out_width;
    int oh = (i / out_width) % out_height;
    const float* plane = x + i / ((long long)out_width * out_height) * height * width;
    float best = MINUS_INFINITY;
    for (int kh = 0; kh < kernel; ++kh) {
        for (int kw = 0; kw < kernel; ++kw) {
            int h = oh * stride - padding + kh * dilation;
            int w = ow * stride - padding + kw * dilation;
            if (h >= 0 && h < height && w >= 0 && w < width) {
                float v = plane[h * width + w];
                if (v > best || v != v) {
                    best = v;
                }
            }
        }
    }
    y[i] = best;
}
