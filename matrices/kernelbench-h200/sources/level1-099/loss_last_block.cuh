// The end of a reduction in one kernel: every block leaves a partial sum, and whichever block comes
// last adds them all in the order of the blocks. Include tree_reduce.cuh first.
#pragma once

// Called by every thread with its block's sum. True in the block that came last, for which ``total``
// is then the sum of all; ``finished`` counts blocks from zero.
__device__ __forceinline__ bool last_block_total(float block_total, volatile float* partial,
                                                 unsigned* finished, float* scratch,
                                                 float& total) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block_total;
        __threadfence();
        is_last = atomicAdd(finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) {
        return false;
    }
    float sum = 0.0f;
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        sum += partial[b];
    }
    total = tree_sum(sum, scratch);
    return true;
}
