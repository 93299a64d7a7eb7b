// Depthwise 3 x 7 convolution with a register window: a thread makes 4 neighbouring outputs of one
// row from 10 inputs of each of three rows. 8 x 16 threads cover 32 columns x 16 rows of a channel,
// whose filter is read once into shared memory.

constexpr int kThreadsX = 8;
constexpr int kThreadsY = 16;
constexpr int kOutputs = 4;
constexpr int kTapsH = 3;
constexpr int kTapsW = 7;

__global__ void depthwise_row_window(const float* __restrict__ x,
                                     const float* __restrict__ weight, float* __restrict__ y,
                                     int channels, int height, int width, int out_height,
                                     int out_width) {
    __shared__ float filter[kTapsH * kTapsW];

    const int tid = threadIdx.x + kThreadsX * threadIdx.y;
    const int channel = blockIdx.z % channels;
    if (tid < kTapsH * kTapsW) {
        filter[tid] = weight[channel * kTapsH * kTapsW + tid];
    }
    __syncthreads();

    const int first = (blockIdx.x * kThreadsX + threadIdx.x) * kOutputs;
    const int row = blockIdx.y * kThreadsY + threadIdx.y;
    if (row >= out_height || first >= out_width) {
        return;
    }
    const int count = min(kOutputs, out_width - first);
    const int filled = count + kTapsW - 1;

    float acc[kOutputs] = {};
    for (int i = 0; i < kTapsH; ++i) {
        const long long line = static_cast<long long>(blockIdx.z) * height + row + i;
        float window[kOutputs + kTapsW - 1] = {};
        for (int t = 0; t < filled; ++t) {
            window[t] = x[line * width + first + t];
        }
#pragma unroll
        for (int j = 0; j < kTapsW; ++j) {
#pragma unroll
            for (int p = 0; p < kOutputs; ++p) {
                acc[p] = fmaf(window[j + p], filter[i * kTapsW + j], acc[p]);
            }
        }
    }
    float* target = y + (static_cast<long long>(blockIdx.z) * out_height + row) * out_width + first;
    for (int p = 0; p < count; ++p) {
        target[p] = acc[p];
    }
}
