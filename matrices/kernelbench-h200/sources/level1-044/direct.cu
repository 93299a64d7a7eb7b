// 1D average pooling, one output a thread; what lies beyond the line counts as zero, and every
// window is divided by its full length. Lines run along the grid's x, the only axis that takes more
// than 65535 of them.

__global__ void avgpool1d_direct(const float* __restrict__ x, float* __restrict__ y, int length,
                                 int out_length, int kernel, int stride, int padding,
                                 float share) {
    const int out = blockIdx.y * blockDim.x + threadIdx.x;
    const long long line = blockIdx.x;
    if (out >= out_length) {
        return;
    }
    const float* in = x + line * length;
    const int first = out * stride - padding;

    float sum = 0.0f;
    for (int k = 0; k < kernel; ++k) {
        const int position = first + k;
        sum += position >= 0 && position < length ? in[position] : 0.0f;
    }
    y[line * out_length + out] = sum * share;
}
