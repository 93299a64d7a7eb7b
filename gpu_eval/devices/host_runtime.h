// Lets g++ compile CUDA C++ kernels unchanged: qualifiers, built-in variables, barriers, entries.
//
// A unit includes this once, before any kernel. Every function here is always_inline or lies in the
// launcher: were gcc free to inline a shim function "because it is called once", a mutant's machine
// code would depend on its neighbours in the unit.
#ifndef HOSTGPU_RUNTIME_H
#define HOSTGPU_RUNTIME_H

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// The plain C headers: libstdc++'s wrappers cost 0.1 s a unit and bring overloads of their own.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

#include "host_abi.h"

#define HOSTGPU_INLINE static inline __attribute__((always_inline, unused))

// Qualifiers. Launch bounds have no meaning here. A kernel is `noipa`, so that its code depends on
// nothing but its own text and the functions it calls.
#define __global__ __attribute__((noipa))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900

#include "host_vectors.h"

// The launcher writes the storage; kernels read it under the names and the constness that CUDA
// gives it. That gcc may keep such a value over a barrier is right: it is the thread's own.
hostgpu::Index3 hostgpu_thread_index __asm__("hostgpu_thread_index");
hostgpu::Index3 hostgpu_block_index __asm__("hostgpu_block_index");
hostgpu::Index3 hostgpu_block_size __asm__("hostgpu_block_size");
hostgpu::Index3 hostgpu_grid_size __asm__("hostgpu_grid_size");
extern const uint3 threadIdx __asm__("hostgpu_thread_index") __attribute__((visibility("hidden")));
extern const uint3 blockIdx __asm__("hostgpu_block_index") __attribute__((visibility("hidden")));
extern const uint3 blockDim __asm__("hostgpu_block_size") __attribute__((visibility("hidden")));
extern const uint3 gridDim __asm__("hostgpu_grid_size") __attribute__((visibility("hidden")));
#define warpSize 32

extern "C" __attribute__((visibility("default"))) hostgpu::Unit hostgpu_unit;
hostgpu::Unit hostgpu_unit = {
    &hostgpu_thread_index, &hostgpu_block_index, &hostgpu_block_size, &hostgpu_grid_size,
    nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
};
// The same object under a name that is hidden: reads go to it directly, not through the GOT.
extern "C" __attribute__((visibility("hidden"), alias("hostgpu_unit"))) hostgpu::Unit hostgpu_self;

namespace hostgpu {

// A `__shared__` variable: its place in the launch's shared memory, found by the first thread.
template <class T>
HOSTGPU_INLINE T& shared(SharedSlot& slot) {
    if (__builtin_expect(slot.launch != hostgpu_self.launch, 0)) {
        hostgpu_self.allocate_shared(&slot, sizeof(T), alignof(T));
    }
    return *static_cast<T*>(slot.address);
}

// An argument's letter; see Kernel::signature.
template <class T> struct Letter { static constexpr char value = '?'; };
template <class T> struct Letter<const T> : Letter<T> {};
template <class T> struct Letter<T*> { static constexpr char value = 'p'; };
template <> struct Letter<int> { static constexpr char value = 'i'; };
template <> struct Letter<unsigned> { static constexpr char value = 'i'; };
template <> struct Letter<long> { static constexpr char value = 'l'; };
template <> struct Letter<unsigned long> { static constexpr char value = 'l'; };
template <> struct Letter<long long> { static constexpr char value = 'l'; };
template <> struct Letter<unsigned long long> { static constexpr char value = 'l'; };
template <> struct Letter<float> { static constexpr char value = 'f'; };
template <> struct Letter<double> { static constexpr char value = 'd'; };

template <class T> struct Value { typedef T type; };
template <class T> struct Value<const T> { typedef T type; };
template <class T> struct Value<T* __restrict__> { typedef T* type; };

// What the launcher calls: unpacks the arguments and runs one thread after another.
template <int... I> struct Positions {};
template <auto kernel> struct Entry;
template <class... A, void (*kernel)(A...)>
struct Entry<kernel> {
    static constexpr char signature[] = {Letter<typename Value<A>::type>::value..., '\0'};
    static void run(void** arguments) { run_in_order(arguments, Positions<__integer_pack(sizeof...(A))...>()); }

  private:
    template <int... I>
    static inline __attribute__((always_inline)) void run_in_order(void** arguments, Positions<I...>) {
        for (;;) {
            kernel(*static_cast<typename Value<A>::type*>(arguments[I])...);
            hostgpu_self.next_thread();
        }
    }
};

}  // namespace hostgpu

// A line of an implementation's table of kernels.
#define HOSTGPU_KERNEL(name, ...) \
    {name, &::hostgpu::Entry<&__VA_ARGS__>::run, ::hostgpu::Entry<&__VA_ARGS__>::signature}
#define HOSTGPU_TABLE(symbol)                                            \
    extern "C" __attribute__((visibility("default"))) const ::hostgpu::Kernel symbol[]; \
    const ::hostgpu::Kernel symbol[] =

// Barriers. unit.py rewrites each `__syncthreads` of a source to `barrier_at<its ordinal>`: gcc
// duplicates calls, so that a return address does not tell one barrier from another.
namespace hostgpu {
template <unsigned site>
HOSTGPU_INLINE void barrier_at() { hostgpu_self.barrier(site); }
}  // namespace hostgpu
HOSTGPU_INLINE void __syncthreads() { hostgpu_self.barrier(0); }
HOSTGPU_INLINE int __syncthreads_count(int p) {
    return hostgpu_self.vote(hostgpu::VOTE_COUNT, p, 0);
}
HOSTGPU_INLINE int __syncthreads_and(int p) { return hostgpu_self.vote(hostgpu::VOTE_AND, p, 0); }
HOSTGPU_INLINE int __syncthreads_or(int p) { return hostgpu_self.vote(hostgpu::VOTE_OR, p, 0); }
// Threads never run at the same time, so a fence has only to stop the compiler.
HOSTGPU_INLINE void __threadfence() { __asm__ volatile("" ::: "memory"); }
HOSTGPU_INLINE void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
HOSTGPU_INLINE void __threadfence_system() { __asm__ volatile("" ::: "memory"); }
HOSTGPU_INLINE void __trap() { __builtin_trap(); }
#undef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
template <class... A> HOSTGPU_INLINE int hostgpu_silent_print(A...) { return 0; }
#define printf hostgpu_silent_print

#include "host_half.h"
#include "host_math.h"
#include "host_warp.h"
#include "host_atomics.h"

#endif
