// SELU as scale x ELU, one element a thread on a grid of rows and blocks of columns.

#include "activation_elu.cuh"

constexpr float kAlpha = 1.6732632423543772848f;
constexpr float kScale = 1.0507009873554804934f;

__global__ void selu_scaled_elu(const float* __restrict__ x, float* __restrict__ y, int rows,
                                int cols) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) {
        return;
    }
    const long long at = static_cast<long long>(row) * cols + col;
    y[at] = kScale * elu(x[at], kAlpha);
}
