// The same function as x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3)), the cubic by Horner's rule: no
// digits cancel where x is negative. Tiles of 32 columns and 8 rows, two columns a thread.

#include "activation_sigmoid.cuh"

constexpr float kTwoRoot = 1.59576912160573071176f;
constexpr float kCubic = 0.044715f;
constexpr int kTileCols = 32;

__device__ __forceinline__ float gelu(float value) {
    const float square = value * value;
    return value * sigmoid(kTwoRoot * value * fmaf(kCubic, square, 1.0f));
}

__global__ void mingpt_gelu_logistic(const float* __restrict__ x, float* __restrict__ y, int rows,
                                     int cols) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int left = blockIdx.x * kTileCols + threadIdx.x;
    const int right = left + kTileCols / 2;
    if (row >= rows || left >= cols) {
        return;
    }
    const long long base = static_cast<long long>(row) * cols;
    y[base + left] = gelu(x[base + left]);
    if (right < cols) {
        y[base + right] = gelu(x[base + right]);
    }
}
