// Average pooling along a line, one output a thread; divides by what was added.
__global__ void avgpool1d_excludes_padding(const float* x, float* y, int length, int out_length, int kernel, int stride,
                   int padding, long long total) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) {
        return;
    }
    const float* line = x + i / out_length * length;
    int first = (int)(i % out_length) * stride - padding;
    float sum = 0.0f;
    int count = 0;
    for (int k = 0; k < kernel; ++k) {
        int at = first + k;
        if (at >= 0 && at < length) {
            sum += line[at];
            ++count;
        }
    }
    y[i] = sum / count;
}
