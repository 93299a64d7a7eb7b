// 3 x 3 convolution as a matrix product whose left side, the patches, is never stored: rows are the
// output pixels of one image, columns the output channels, the reduction runs over channels and
// taps. 128 threads make 64 pixels x 16 channels, each 4 x 2; the next step's operands are loaded
// into registers while the current ones are multiplied.

constexpr int kTaps = 3;
constexpr int kTileP = 64;
constexpr int kTileC = 16;
constexpr int kTileK = 8;
constexpr int kThreads = 128;
constexpr int kLoadsP = kTileP * kTileK / kThreads;
constexpr int kPixels = 4;

__global__ void conv2d_implicit_gemm(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ y, int in_channels, int height, int width,
                                     int out_channels, int out_height, int out_width) {
    __shared__ float patches[kTileK][kTileP];
    __shared__ float filters[kTileK][kTileC];

    const int tid = threadIdx.x;
    const int pixels = out_height * out_width;
    const int terms = in_channels * kTaps * kTaps;
    const int first_pixel = blockIdx.x * kTileP;
    const int first_channel = blockIdx.y * kTileC;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * height * width;

    // Every load of a thread is for the same pixel, and every second row of the tile.
    const int pixel = first_pixel + tid % kTileP;
    const int corner = (pixel / out_width) * width + pixel % out_width;
    const int load_c = tid / kTileK;
    const int load_k = tid % kTileK;

    float next_p[kLoadsP];
    float next_f;
    float acc[kPixels][2] = {};
    const int tx = tid % (kTileC / 2);
    const int ty = tid / (kTileC / 2);

    for (int k0 = -kTileK; k0 < terms; k0 += kTileK) {
        const int k1 = k0 + kTileK;
        for (int l = 0; l < kLoadsP; ++l) {
            const int k = k1 + tid / kTileP + l * (kThreads / kTileP);
            const int tap = k % (kTaps * kTaps);
            const int offset =
                (k / (kTaps * kTaps) * height + tap / kTaps) * width + tap % kTaps;
            next_p[l] = k < terms && pixel < pixels ? image[offset + corner] : 0.0f;
        }
        const bool present = first_channel + load_c < out_channels && k1 + load_k < terms;
        next_f = present ? weight[(first_channel + load_c) * terms + k1 + load_k] : 0.0f;
        if (k0 >= 0) {
            for (int k = 0; k < kTileK; ++k) {
                const float f0 = filters[k][tx * 2];
                const float f1 = filters[k][tx * 2 + 1];
                for (int p = 0; p < kPixels; ++p) {
                    const float value = patches[k][ty * kPixels + p];
                    acc[p][0] += value * f0;
                    acc[p][1] += value * f1;
                }
            }
        }
        __syncthreads();
        for (int l = 0; l < kLoadsP; ++l) {
            patches[tid / kTileP + l * (kThreads / kTileP)][tid % kTileP] = next_p[l];
        }
        filters[load_k][load_c] = next_f;
        __syncthreads();
    }

    for (int p = 0; p < kPixels; ++p) {
        const int out_pixel = first_pixel + ty * kPixels + p;
        for (int c = 0; c < 2; ++c) {
            const int channel = first_channel + tx * 2 + c;
            if (out_pixel < pixels && channel < out_channels) {
                const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
                y[plane * pixels + out_pixel] = acc[p][c];
            }
        }
    }
}
