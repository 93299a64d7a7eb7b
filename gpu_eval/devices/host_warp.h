// Warp-level exchange: shuffles, votes, reductions.
#ifndef HOSTGPU_WARP_H
#define HOSTGPU_WARP_H

namespace hostgpu {

template <class T>
HOSTGPU_INLINE T shuffle(unsigned kind, unsigned mask, T value, int operand, int width) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "a warp shuffle moves values of at most 8 bytes");
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof(T));
    bits = hostgpu_self.exchange(kind, mask, bits, operand, width);
    memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace hostgpu

template <class T>
HOSTGPU_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    return hostgpu::shuffle(hostgpu::SHUFFLE_INDEX, mask, value, lane, width);
}
template <class T>
HOSTGPU_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return hostgpu::shuffle(hostgpu::SHUFFLE_UP, mask, value, static_cast<int>(delta), width);
}
template <class T>
HOSTGPU_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return hostgpu::shuffle(hostgpu::SHUFFLE_DOWN, mask, value, static_cast<int>(delta), width);
}
template <class T>
HOSTGPU_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
    return hostgpu::shuffle(hostgpu::SHUFFLE_XOR, mask, value, lanes, width);
}

HOSTGPU_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
    hostgpu_self.exchange(hostgpu::SYNC, mask, 0, 0, 32);
}
HOSTGPU_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
    return static_cast<unsigned>(
        hostgpu_self.exchange(hostgpu::BALLOT, mask, predicate != 0, 0, 32));
}
HOSTGPU_INLINE int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
HOSTGPU_INLINE int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate == 0) == 0;
}
HOSTGPU_INLINE unsigned __activemask() {
    return static_cast<unsigned>(hostgpu_self.exchange(hostgpu::ACTIVE, 0, 0, 0, 32));
}
HOSTGPU_INLINE unsigned __lane_id() { return hostgpu_self.lane(); }

#endif
