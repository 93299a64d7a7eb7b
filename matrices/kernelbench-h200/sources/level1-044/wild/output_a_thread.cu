// Average pooling along a line, one output a thread; padded positions are in the divisor.
__global__ void avgpool1d_output_a_thread(const float* x, float* y, int length, int out_length, int kernel, int stride,
                   int padding, long long total) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) {
        return;
    }
    const float* line = x + i / out_length * length;
    int first = (int)(i % out_length) * stride - padding;
    float sum = 0.0f;
    for (int k = 0; k < kernel; ++k) {
        int at = first + k;
        if (at >= 0 && at < length) {
            sum += line[at];
        }
    }
    y[i] = sum / kernel;
}
