// c = A b, one warp a row, four rows a block: four elements a load where rows are aligned, four
// running sums a lane, shuffles at the end. A holds more than 2^31 elements by contract.

#include "warp_reduce.cuh"

constexpr int kRows = 4;

__global__ void matvec_warp_rows(const float* __restrict__ a, const float* __restrict__ b,
                                 float* __restrict__ c, int m, int k) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kRows + threadIdx.x / 32;
    if (row >= m) {
        return;
    }

    const float* row_in = a + static_cast<long long>(row) * k;
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (k % 4 == 0) {
        const float4* row4 = reinterpret_cast<const float4*>(row_in);
        const float4* b4 = reinterpret_cast<const float4*>(b);
        for (int i = lane; i < k / 4; i += 32) {
            const float4 u = row4[i];
            const float4 v = b4[i];
            acc.x += u.x * v.x;
            acc.y += u.y * v.y;
            acc.z += u.z * v.z;
            acc.w += u.w * v.w;
        }
    } else {
        for (int i = lane; i < k; i += 32) {
            acc.x += row_in[i] * b[i];
        }
    }

    const float total = warp_sum((acc.x + acc.y) + (acc.z + acc.w));
    if (lane == 0) {
        c[row] = total;
    }
}
