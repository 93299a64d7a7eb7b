// Four neighbouring floats at once where the address allows it, else one by one, and of these only
// the first `left`.
#pragma once

__device__ __forceinline__ float4 load4(const float* source, long long left, bool aligned) {
    if (aligned) {
        return *reinterpret_cast<const float4*>(source);
    }
    float parts[4] = {};
    for (int p = 0; p < 4; ++p) {
        if (p < left) {
            parts[p] = source[p];
        }
    }
    return make_float4(parts[0], parts[1], parts[2], parts[3]);
}

__device__ __forceinline__ void store4(float* target, float4 value, long long left, bool aligned) {
    if (aligned) {
        *reinterpret_cast<float4*>(target) = value;
        return;
    }
    const float parts[4] = {value.x, value.y, value.z, value.w};
    for (int p = 0; p < 4; ++p) {
        if (p < left) {
            target[p] = parts[p];
        }
    }
}
