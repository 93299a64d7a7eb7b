// Buffers between slack zones between guards, as a kernel sees them.
//
// Layout of one buffer, in pages:   guard | front slack | data ... | back slack | guard
//
// - A guard is 8 GiB of unmapped address space: what a 32-bit index times four bytes can reach.
// - Slack holds a stated pattern: floats in [1, 2), the same for every buffer, that begins anew at
//   the data's end. A small overrun reads defined values that are neither zero nor NaN.
// - Slack and inputs are write-protected. The first write to them traps once, opens the buffer and
//   marks it; the run goes on, as on a GPU, and the buffer is restored after it. Only the slack that
//   shares a page with the data's end has to be compared after each run.
#ifndef HOSTGPU_ARENA_H
#define HOSTGPU_ARENA_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hostgpu {

enum class Role : int { INPUT, OUTPUT, ZEROED, SCRATCH };

constexpr std::size_t GUARD = std::size_t{8} << 30;
constexpr std::size_t SLACK = std::size_t{64} << 10;
constexpr std::size_t PLACE = 97;  // words between the patterns of neighbours
// A quiet NaN that no arithmetic makes of other operands. x86 hands a NaN operand's bits on, so
// "output += x" still counts as unwritten, as it should: what it adds to was never written.
constexpr std::uint32_t POISON = 0xFFF5C0DEu;

struct Buffer {
    std::string name;
    Role role;
    std::size_t place;  // in the slack's pattern, where this buffer's begins
    char* begin;        // front slack
    char* data;
    std::size_t bytes;
    char* end;                   // of the back slack
    std::vector<char> pristine;  // an input's content; an output's after the last good run
    const float* reference = nullptr;
    const double* truth = nullptr;
    volatile bool opened = false;
};

class Arena {
  public:
    struct Specification {
        const char* name;
        int role;
        std::uint64_t bytes;
        const void* content;    // of an input
        const void* reference;  // of an output
        const void* truth;
    };

    Arena(const Specification* specifications, int count);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    std::vector<Buffer> buffers;

    // Write what each buffer holds before a run. `stale`: outputs hold the reference.
    void prepare(bool stale);
    // Undo writes outside outputs and workspaces; whether there were any, and into what.
    bool restore(std::string& message);
    // The buffer whose slack or guards an address lies in, or nullptr.
    Buffer* owner(const char* address);
    bool open(char* address);

  private:
    char* base_ = nullptr;
    std::size_t reserved_ = 0;
};

}  // namespace hostgpu

#endif
