// Copies a box of a volume into shared memory, zeros where it reaches beyond the volume on any
// side; all threads of a block take part. The caller puts a barrier after it.
#pragma once

template <int kThreads, int kLayers, int kRows, int kCols>
__device__ __forceinline__ void stage_slab(float (&slab)[kLayers][kRows][kCols],
                                           const float* __restrict__ volume, int first_layer,
                                           int first_row, int first_col, int depth, int height,
                                           int width, int tid) {
    for (int i = tid; i < kLayers * kRows * kCols; i += kThreads) {
        const int layer = first_layer + i / (kRows * kCols);
        const int row = first_row + i / kCols % kRows;
        const int col = first_col + i % kCols;
        const bool inside = layer >= 0 && layer < depth && row >= 0 && row < height && col >= 0 &&
                            col < width;
        slab[i / (kRows * kCols)][i / kCols % kRows][i % kCols] =
            inside ? volume[(layer * height + row) * width + col] : 0.0f;
    }
}
