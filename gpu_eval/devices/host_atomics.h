// Atomics. Threads of a launch run one at a time and are never interrupted between two barriers,
// so a plain read-modify-write is atomic; its order is the schedule's.
#ifndef HOSTGPU_ATOMICS_H
#define HOSTGPU_ATOMICS_H

#define HOSTGPU_ATOMIC(T, name, expression)                                  \
    HOSTGPU_INLINE T name(T* address, T value) {                             \
        T old = *static_cast<volatile T*>(address);                          \
        *static_cast<volatile T*>(address) = (expression);                   \
        return old;                                                          \
    }
#define HOSTGPU_ATOMIC_ALL(T)                                                \
    HOSTGPU_ATOMIC(T, atomicExch, value)                                     \
    HOSTGPU_ATOMIC(T, atomicAdd, old + value)

HOSTGPU_ATOMIC_ALL(int)
HOSTGPU_ATOMIC_ALL(unsigned)
HOSTGPU_ATOMIC_ALL(unsigned long long)
HOSTGPU_ATOMIC_ALL(float)
HOSTGPU_ATOMIC(double, atomicAdd, old + value)

#define HOSTGPU_ATOMIC_INTEGER(T)                                            \
    HOSTGPU_ATOMIC(T, atomicMin, old < value ? old : value)                  \
    HOSTGPU_ATOMIC(T, atomicMax, old > value ? old : value)                  \
    HOSTGPU_ATOMIC(T, atomicAnd, old & value)                                \
    HOSTGPU_ATOMIC(T, atomicOr, old | value)                                 \
    HOSTGPU_ATOMIC(T, atomicXor, old ^ value)
HOSTGPU_ATOMIC_INTEGER(int)
HOSTGPU_ATOMIC_INTEGER(unsigned)
HOSTGPU_ATOMIC_INTEGER(long long)
HOSTGPU_ATOMIC_INTEGER(unsigned long long)
HOSTGPU_ATOMIC(int, atomicSub, old - value)
HOSTGPU_ATOMIC(unsigned, atomicSub, old - value)
HOSTGPU_ATOMIC(unsigned, atomicInc, old >= value ? 0u : old + 1u)
HOSTGPU_ATOMIC(unsigned, atomicDec, old == 0u || old > value ? value : old - 1u)
#undef HOSTGPU_ATOMIC_INTEGER
#undef HOSTGPU_ATOMIC_ALL
#undef HOSTGPU_ATOMIC

#define HOSTGPU_COMPARE_AND_SWAP(T)                                          \
    HOSTGPU_INLINE T atomicCAS(T* address, T compare, T value) {             \
        T old = *static_cast<volatile T*>(address);                          \
        if (old == compare) *static_cast<volatile T*>(address) = value;      \
        return old;                                                          \
    }
HOSTGPU_COMPARE_AND_SWAP(int)
HOSTGPU_COMPARE_AND_SWAP(unsigned)
HOSTGPU_COMPARE_AND_SWAP(unsigned short)
HOSTGPU_COMPARE_AND_SWAP(unsigned long long)
#undef HOSTGPU_COMPARE_AND_SWAP

HOSTGPU_INLINE __half atomicAdd(__half* address, __half value) {
    __half old = *address;
    *address = __hadd(old, value);
    return old;
}
HOSTGPU_INLINE __nv_bfloat16 atomicAdd(__nv_bfloat16* address, __nv_bfloat16 value) {
    __nv_bfloat16 old = *address;
    *address = __hadd(old, value);
    return old;
}

#endif
