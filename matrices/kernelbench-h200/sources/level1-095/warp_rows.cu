// Mean cross-entropy of rows of logits against class ids, one warp a row in two passes (maximum,
// then sum of exponentials), four rows a block. A block adds the losses of its rows; partial sums
// go to a workspace and are added as a tree by one block.

#include "limits.cuh"
#include "warp_reduce.cuh"
#include "tree_reduce.cuh"

constexpr int kThreads = 128;
constexpr int kRows = 4;

__global__ void cross_entropy_rows(const float* __restrict__ logits,
                                   const long long* __restrict__ targets,
                                   float* __restrict__ partial, int rows, int classes) {
    __shared__ float row_loss[kRows];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int row = blockIdx.x * kRows + warp;

    float loss = 0.0f;
    if (row < rows) {
        const float* row_in = logits + static_cast<long long>(row) * classes;
        float largest = -FLT_MAX;
        for (int i = lane; i < classes; i += 32) {
            largest = fmaxf(largest, row_in[i]);
        }
        largest = warp_max(largest);
        float sum = 0.0f;
        for (int i = lane; i < classes; i += 32) {
            sum += expf(row_in[i] - largest);
        }
        sum = warp_sum(sum);
        loss = logf(sum) + (largest - row_in[targets[row]]);
    }
    if (lane == 0) {
        row_loss[warp] = loss;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = (row_loss[0] + row_loss[1]) + (row_loss[2] + row_loss[3]);
    }
}

__global__ void cross_entropy_tree(const float* __restrict__ partial, float* __restrict__ loss,
                                   int blocks, int rows) {
    __shared__ float scratch[kThreads];

    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks; b += kThreads) {
        sum += partial[b];
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        loss[0] = sum / rows;
    }
}
