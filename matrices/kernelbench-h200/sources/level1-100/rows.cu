// Mean hinge loss of a matrix against one target a column, in one kernel: blocks take turns at the
// rows, a thread adds every 128th element of a row on its own and the rows' sums to a total. The
// block that finishes last adds the blocks' totals.

#include "tree_reduce.cuh"
#include "loss_last_block.cuh"

constexpr int kThreads = 128;

__device__ __forceinline__ float hinge(float prediction, float target) {
    const float margin = 1.0f - prediction * target;
    return margin > 0.0f ? margin : 0.0f;
}

__global__ void hinge_rows(const float* __restrict__ predictions,
                           const float* __restrict__ targets, volatile float* partial,
                           unsigned* finished, float* __restrict__ loss, int rows, int cols) {
    __shared__ float scratch[kThreads];

    float total = 0.0f;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* line = predictions + static_cast<long long>(row) * cols;
        float row_sum = 0.0f;
        for (int col = threadIdx.x; col < cols; col += kThreads) {
            row_sum += hinge(line[col], __ldg(targets + col));
        }
        total += row_sum;
    }
    total = tree_sum(total, scratch);

    float whole = 0.0f;
    const bool last = last_block_total(total, partial, finished, scratch, whole);
    if (last && threadIdx.x == 0) {
        const long long elements = static_cast<long long>(rows) * cols;
        loss[0] = whole / elements;
    }
}
