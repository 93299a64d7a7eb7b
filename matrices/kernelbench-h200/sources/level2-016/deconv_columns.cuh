// The matrix product of a transposed convolution by columns: for one image, row m (an output
// channel and a tap) and column n (an input pixel), columns[m][n] = sum over input channels c of
// weight[c][m] * x[image][c][n]. Blocks of 16 x 16 threads, one 16 x 16 tile each.
#pragma once

constexpr int kColumnsTile = 16;

__global__ void deconv_columns(const float* __restrict__ x, const float* __restrict__ weight,
                               float* __restrict__ columns, int image, int channels, int rows,
                               int pixels) {
    __shared__ float tile_w[kColumnsTile][kColumnsTile];
    __shared__ float tile_x[kColumnsTile][kColumnsTile];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_row = blockIdx.y * kColumnsTile;
    const int pixel = blockIdx.x * kColumnsTile + tx;
    const float* planes = x + static_cast<long long>(image) * channels * pixels;

    float acc = 0.0f;
    for (int c0 = 0; c0 < channels; c0 += kColumnsTile) {
        const int c = c0 + ty;
        // Rows of the weight lie next to each other in memory: tx runs over them here.
        const bool row_inside = c < channels && first_row + tx < rows;
        const bool pixel_inside = c < channels && pixel < pixels;
        tile_w[ty][tx] = row_inside ? weight[c * rows + first_row + tx] : 0.0f;
        tile_x[ty][tx] =
            pixel_inside ? planes[static_cast<long long>(c) * pixels + pixel] : 0.0f;
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kColumnsTile; ++k) {
            acc += tile_w[k][ty] * tile_x[k][tx];
        }
        __syncthreads();
    }

    if (first_row + ty < rows && pixel < pixels) {
        columns[static_cast<long long>(first_row + ty) * pixels + pixel] = acc;
    }
}
