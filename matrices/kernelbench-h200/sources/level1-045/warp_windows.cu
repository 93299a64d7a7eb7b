// 2D average pooling of windows that do not overlap, one warp a window, four windows a block: the
// lanes share out the taps, and shuffles add up what they found.

#include "warp_reduce.cuh"

constexpr int kWarps = 4;

__global__ void avgpool2d_warp_windows(const float* __restrict__ x, float* __restrict__ y,
                                       long long outputs, int height, int width, int out_height,
                                       int out_width, int kernel) {
    const int lane = threadIdx.x % 32;
    const long long output = static_cast<long long>(blockIdx.x) * kWarps + threadIdx.x / 32;
    if (output >= outputs) {
        return;
    }
    const int out_col = static_cast<int>(output % out_width);
    const long long above = output / out_width;
    const int out_row = static_cast<int>(above % out_height);
    const long long plane = above / out_height;
    const float* window = x + (plane * height + out_row * kernel) * width + out_col * kernel;

    const int taps = kernel * kernel;
    float sum = 0.0f;
    for (int tap = lane; tap < taps; tap += 32) {
        sum += window[(tap / kernel) * width + tap % kernel];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        y[output] = sum / taps;
    }
}
