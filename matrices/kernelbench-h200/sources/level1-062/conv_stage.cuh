// Copies a window of an image's plane into shared memory, zeros where it reaches beyond the last
// row or column; all threads of a block take part. The caller puts a barrier after it.
#pragma once

__device__ __forceinline__ void stage_plane(float* tile, int tile_rows, int tile_cols,
                                            const float* __restrict__ plane, int first_row,
                                            int first_col, int height, int width, int tid,
                                            int threads) {
    for (int i = tid; i < tile_rows * tile_cols; i += threads) {
        const int row = first_row + i / tile_cols;
        const int col = first_col + i % tile_cols;
        tile[i] = row < height && col < width ? plane[row * width + col] : 0.0f;
    }
}
