// Depthwise 3 x 3 convolution in which each warp holds rows of 32 columns, and lanes get their
// right neighbours' inputs by shuffles. The last two lanes' neighbours come from two more loads.
// A warp makes 4 rows, the 4 warps of a block 16; every input row is read once a warp.

constexpr int kWarps = 4;
constexpr int kRows = 4;
constexpr unsigned kAll = 0xffffffffu;

struct Triple {
    float left;
    float middle;
    float right;
};

__device__ __forceinline__ Triple load_row(const float* __restrict__ line, int col, int width,
                                           bool present) {
    const int lane = threadIdx.x % 32;
    Triple v;
    v.left = present && col < width ? line[col] : 0.0f;
    const float beyond =
        present && lane < 2 && col + 32 < width ? line[col + 32] : 0.0f;
    const float middle = __shfl_down_sync(kAll, v.left, 1);
    const float right = __shfl_down_sync(kAll, v.left, 2);
    const float wrapped_middle = __shfl_sync(kAll, beyond, (lane + 1) % 32);
    const float wrapped_right = __shfl_sync(kAll, beyond, (lane + 2) % 32);
    v.middle = lane < 31 ? middle : wrapped_middle;
    v.right = lane < 30 ? right : wrapped_right;
    return v;
}

__device__ __forceinline__ float dot(Triple v, const float* w) {
    return v.left * w[0] + v.middle * w[1] + v.right * w[2];
}

__global__ void depthwise_warp_rows(const float* __restrict__ x, const float* __restrict__ weight,
                                    float* __restrict__ y, int channels, int height, int width,
                                    int out_height, int out_width) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int col = blockIdx.x * 32 + lane;
    const int first_row = (blockIdx.y * kWarps + warp) * kRows;
    const long long plane = blockIdx.z;
    const float* filter = weight + blockIdx.z % channels * 9;
    float w[9];
#pragma unroll
    for (int t = 0; t < 9; ++t) {
        w[t] = filter[t];
    }

    const float* source = x + plane * height * width;
    Triple above = load_row(source + static_cast<long long>(first_row) * width, col, width,
                            first_row < height);
    Triple here = load_row(source + static_cast<long long>(first_row + 1) * width, col, width,
                           first_row + 1 < height);
    for (int r = first_row; r < first_row + kRows; ++r) {
        const Triple below = load_row(source + static_cast<long long>(r + 2) * width, col, width,
                                      r + 2 < height);
        if (r < out_height && col < out_width) {
            y[(plane * out_height + r) * out_width + col] =
                dot(above, w) + dot(here, w + 3) + dot(below, w + 6);
        }
        above = here;
        here = below;
    }
}
