// One launch: blocks one after another, threads of a block as fibers where they block.
#ifndef HOSTGPU_GRID_H
#define HOSTGPU_GRID_H

#include <cstdint>

#include "host_abi.h"

namespace hostgpu {

struct GridLaunch {
    Unit* unit;
    void (*entry)(void** arguments);
    void** arguments;
    Index3 grid, block;
    std::uint64_t shared;
    bool reversed;  // blocks, warps and lanes from the last to the first
};

enum class GridEnd { DONE, DEADLOCK, SHARED_TOO_LARGE, ABANDONED };

constexpr std::uint64_t STATIC_SHARED_LIMIT = 48 << 10;   // what ptxas accepts
constexpr std::uint64_t SHARED_LIMIT = 227 << 10;         // a block's most on sm_80 and later
constexpr unsigned BLOCK_LIMIT = 1024;

// Reserve stacks and shared memory; throws std::runtime_error.
void grid_setup();
// Connect a loaded unit to the scheduler.
void grid_attach(Unit& unit);
// Run all blocks. `divergent` is set if only a part of the threads came to a barrier or exchange.
GridEnd run_grid(const GridLaunch& launch, bool& divergent);
// Before the first launch of a run.
void grid_begin();
// From a signal handler, on any stack: give up the launch under way. Does not return where a kernel
// runs; between two blocks, `wait` makes the launch end there, and otherwise the answer is false.
bool abandon_grid(bool wait);
// Whether an address lies in a stack's guard or around shared memory; what it is, or nullptr.
const char* describe_private(const char* address);

}  // namespace hostgpu

#endif
