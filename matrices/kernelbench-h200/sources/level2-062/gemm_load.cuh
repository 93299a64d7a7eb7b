// Four neighbouring elements of a row-major matrix's row, zero beyond the row's end. Rows whose
// length is a multiple of four are aligned, as the matrix itself is, and take one load.
#pragma once

__device__ __forceinline__ float4 load_quad(const float* __restrict__ row, int at, int length) {
    if (length % 4 == 0 && at < length) {
        return *reinterpret_cast<const float4*>(row + at);
    }
    float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (at < length) {
        quad.x = row[at];
    }
    if (at + 1 < length) {
        quad.y = row[at + 1];
    }
    if (at + 2 < length) {
        quad.z = row[at + 2];
    }
    if (at + 3 < length) {
        quad.w = row[at + 3];
    }
    return quad;
}

// The counterpart: writes the elements that the row has.
__device__ __forceinline__ void store_quad(float* __restrict__ row, int at, int length,
                                           float4 quad) {
    if (length % 4 == 0 && at < length) {
        *reinterpret_cast<float4*>(row + at) = quad;
        return;
    }
    if (at < length) {
        row[at] = quad.x;
    }
    if (at + 1 < length) {
        row[at + 1] = quad.y;
    }
    if (at + 2 < length) {
        row[at + 2] = quad.z;
    }
    if (at + 3 < length) {
        row[at + 3] = quad.w;
    }
}
