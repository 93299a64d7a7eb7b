// 3D average pooling of 3 x 3 x 3 taps, stride 2, padding 1: a thread walks five outputs in depth.
// A window's last slice is the next one's first, so that its sum is carried on and added up once.

constexpr int kKernel = 3;
constexpr int kStride = 2;
constexpr int kPadding = 1;
constexpr int kWalk = 5;

__device__ __forceinline__ float slice_sum(const float* slice, int first_row, int first_col,
                                           int height, int width) {
    float sum = 0.0f;
    for (int i = 0; i < kKernel; ++i) {
        const int row = first_row + i;
        for (int j = 0; j < kKernel; ++j) {
            const int col = first_col + j;
            if (row >= 0 && row < height && col >= 0 && col < width) {
                sum += slice[row * width + col];
            }
        }
    }
    return sum;
}

__global__ void avgpool3d_marching(const float* __restrict__ x, float* __restrict__ y, int depth,
                                   int height, int width, int out_depth, int out_height,
                                   int out_width) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int out_area = out_height * out_width;
    if (at >= out_area) {
        return;
    }
    const int first_row = at / out_width * kStride - kPadding;
    const int first_col = at % out_width * kStride - kPadding;
    const int first = blockIdx.y * kWalk;
    const int last = min(first + kWalk, out_depth);
    const long long plane = blockIdx.z;
    const long long area = static_cast<long long>(height) * width;

    const float* slice = x + (plane * depth + first * kStride) * area;
    float behind = 0.0f;
    if (first > 0) {
        behind = slice_sum(slice - area, first_row, first_col, height, width);
    }
    for (int out = first; out < last; ++out) {
        const float middle = slice_sum(slice, first_row, first_col, height, width);
        float ahead = 0.0f;
        if (out * kStride + 1 < depth) {
            ahead = slice_sum(slice + area, first_row, first_col, height, width);
        }
        const float total = behind + middle + ahead;
        y[(plane * out_depth + out) * out_area + at] = total / (kKernel * kKernel * kKernel);
        behind = ahead;
        slice += kStride * area;
    }
}
