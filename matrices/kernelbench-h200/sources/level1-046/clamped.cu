// 3D average pooling, one output a thread: the window is clamped to the volume before the loops,
// and the sum is divided by the whole window, the padding that it would reach included.

__global__ void avgpool3d_clamped(const float* __restrict__ x, float* __restrict__ y, int depth,
                                  int height, int width, int out_depth, int out_height,
                                  int out_width, int kernel, int stride, int padding) {
    const int out_col = blockIdx.x * blockDim.x + threadIdx.x;
    const int out_row = blockIdx.y * blockDim.y + threadIdx.y;
    const int out_slice = blockIdx.z % out_depth;
    const long long plane = blockIdx.z / out_depth;
    if (out_col >= out_width || out_row >= out_height) {
        return;
    }
    const int slice_begin = max(out_slice * stride - padding, 0);
    const int row_begin = max(out_row * stride - padding, 0);
    const int col_begin = max(out_col * stride - padding, 0);
    const int slice_end = min(out_slice * stride - padding + kernel, depth);
    const int row_end = min(out_row * stride - padding + kernel, height);
    const int col_end = min(out_col * stride - padding + kernel, width);

    float sum = 0.0f;
    for (int slice = slice_begin; slice < slice_end; ++slice) {
        for (int row = row_begin; row < row_end; ++row) {
            const float* line = x + ((plane * depth + slice) * height + row) * width;
            for (int col = col_begin; col < col_end; ++col) {
                sum += line[col];
            }
        }
    }
    const long long at = ((plane * out_depth + out_slice) * out_height + out_row) * out_width;
    y[at + out_col] = sum / static_cast<float>(kernel * kernel * kernel);
}
