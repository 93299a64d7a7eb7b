// Attention as it is written down: all scores of a head into a workspace, a softmax of each of its
// rows in place, and the product with the values. The workspace holds 2^28 scores by contract.

#include "limits.cuh"
#include "warp_reduce.cuh"

constexpr int kTile = 16;
constexpr int kDepth = 8;
constexpr int kLoaders = kTile * kDepth;
constexpr int kWarps = 4;
constexpr int kCols = 8;
constexpr int kRows = 2;

// scores[head][query][key]: one a thread, from two tiles that run along the head's width; one half
// of the block brings the queries', the other the keys'.
__global__ void attention_scores(const float* __restrict__ q, const float* __restrict__ k,
                                 float* __restrict__ scores, int seq, int dim) {
    __shared__ float tiles[2][kTile][kDepth + 1];

    const int tid = threadIdx.x;
    const int side = tid / kLoaders;
    const int line = tid % kLoaders / kDepth;
    const int term = tid % kDepth;
    const size_t head = blockIdx.z;
    const int staged = (side == 0 ? blockIdx.y : blockIdx.x) * kTile + line;
    const float* source = (side == 0 ? q : k) + (head * seq + staged) * dim;

    const int tx = tid % kTile;
    const int ty = tid / kTile;
    float acc = 0.0f;
    for (int d0 = 0; d0 < dim; d0 += kDepth) {
        tiles[side][line][term] = (staged < seq && d0 + term < dim) ? source[d0 + term] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int d = 0; d < kDepth; ++d) {
            acc += tiles[0][ty][d] * tiles[1][tx][d];
        }
        __syncthreads();
    }

    const int query = blockIdx.y * kTile + ty;
    const int key = blockIdx.x * kTile + tx;
    if (query < seq && key < seq) {
        scores[(head * seq + query) * seq + key] = acc * rsqrtf(static_cast<float>(dim));
    }
}

// A warp a row; weights replace scores.
__global__ void attention_softmax(float* __restrict__ scores, int rows, int seq) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * kWarps + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    float* own = scores + static_cast<size_t>(row) * seq;

    float largest = -FLT_MAX;
    for (int i = lane; i < seq; i += 32) {
        largest = fmaxf(largest, own[i]);
    }
    largest = warp_max(largest);

    float total = 0.0f;
    for (int i = lane; i < seq; i += 32) {
        const float weight = expf(own[i] - largest);
        own[i] = weight;
        total += weight;
    }
    total = warp_sum(total);

    for (int i = lane; i < seq; i += 32) {
        own[i] = own[i] / total;
    }
}

// 64 threads make a 16 x 8 tile of a head's output, two rows of one column each.
__global__ void attention_values(const float* __restrict__ weights, const float* __restrict__ v,
                                 float* __restrict__ out, int seq, int dim) {
    __shared__ float tile_w[kTile][kTile + 1];
    __shared__ float tile_v[kTile][kCols];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kCols + tx;
    const size_t head = blockIdx.z;
    const int row0 = blockIdx.y * kTile;
    const int d = blockIdx.x * kCols + tx;
    const float* head_w = weights + head * seq * seq;
    const float* head_v = v + head * seq * dim;

    float acc[kRows] = {};
    for (int k0 = 0; k0 < seq; k0 += kTile) {
        for (int i = tid; i < kTile * kTile; i += kCols * kCols) {
            const int query = row0 + i / kTile;
            const int key = k0 + i % kTile;
            const bool inside = query < seq && key < seq;
            tile_w[i / kTile][i % kTile] =
                inside ? head_w[static_cast<size_t>(query) * seq + key] : 0.0f;
        }
        for (int i = ty; i < kTile; i += kTile / kRows) {
            const bool inside = k0 + i < seq && d < dim;
            tile_v[i][tx] = inside ? head_v[static_cast<size_t>(k0 + i) * dim + d] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < kTile; ++j) {
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
                acc[i] += tile_w[ty * kRows + i][j] * tile_v[j][tx];
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int query = row0 + ty * kRows + i;
        if (query < seq && d < dim) {
            out[(head * seq + query) * dim + d] = acc[i];
        }
    }
}
