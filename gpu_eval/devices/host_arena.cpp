#include "host_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace hostgpu {
namespace {

std::size_t pages(std::size_t bytes) {
    static const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

// The slack's pattern, from one of a zone's places on and one zone long. Each buffer begins at a
// place of its own: a kernel that reads behind one buffer and writes that behind another is seen.
const char* pattern(std::size_t place) {
    static const std::vector<std::uint32_t> words = [] {
        std::vector<std::uint32_t> zone(SLACK / 2);
        std::uint32_t state = 0x9E3779B9u;
        for (std::uint32_t& word : zone) {
            state = state * 1664525u + 1013904223u;
            word = 0x3F800000u | (state >> 9);
        }
        return zone;
    }();
    return reinterpret_cast<const char*>(words.data() + place);
}

// Back slack is a zone and the rest of a page long: the pattern goes round.
void fill_slack(char* from, char* to, std::size_t place) {
    while (from < to) {
        std::size_t part = std::min<std::size_t>(SLACK, static_cast<std::size_t>(to - from));
        std::memcpy(from, pattern(place), part);
        from += part;
    }
}

bool slack_intact(const char* from, const char* to, std::size_t place) {
    while (from < to) {
        std::size_t part = std::min<std::size_t>(SLACK, static_cast<std::size_t>(to - from));
        if (std::memcmp(from, pattern(place), part) != 0) return false;
        from += part;
    }
    return true;
}

void fill_words(char* data, std::size_t bytes, std::uint32_t word) {
    std::uint32_t* words = reinterpret_cast<std::uint32_t*>(data);
    std::fill(words, words + bytes / 4, word);
}

bool writable(Role role) { return role != Role::INPUT; }

// Slack is read-only, and so is an input; the page in which writable data end stays open.
void protect(Buffer& buffer) {
    std::size_t open = writable(buffer.role) ? pages(buffer.bytes) : 0;
    char* after = buffer.data + open;
    mprotect(buffer.begin, static_cast<std::size_t>(buffer.data - buffer.begin), PROT_READ);
    if (open) mprotect(buffer.data, open, PROT_READ | PROT_WRITE);
    mprotect(after, static_cast<std::size_t>(buffer.end - after), PROT_READ);
    buffer.opened = false;
}

}  // namespace

Arena::Arena(const Specification* specifications, int count) {
    reserved_ = GUARD;
    for (int i = 0; i < count; ++i) {
        reserved_ += pages(SLACK) + pages(specifications[i].bytes + SLACK) + GUARD;
    }
    void* memory = mmap(nullptr, reserved_, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot reserve address space");
    base_ = static_cast<char*>(memory);
    char* place = base_ + GUARD;
    for (int i = 0; i < count; ++i) {
        const Specification& s = specifications[i];
        Buffer buffer;
        buffer.name = s.name;
        buffer.role = static_cast<Role>(s.role);
        const int sort = buffer.role == Role::INPUT ? 0 : buffer.role == Role::OUTPUT ? 1 : 2;
        buffer.place = PLACE * static_cast<std::size_t>(3 * i + sort) % (SLACK / 4);
        buffer.begin = place;
        buffer.data = place + pages(SLACK);
        buffer.bytes = s.bytes;
        buffer.end = buffer.data + pages(s.bytes + SLACK);
        buffer.reference = static_cast<const float*>(s.reference);
        buffer.truth = static_cast<const double*>(s.truth);
        std::size_t whole = static_cast<std::size_t>(buffer.end - buffer.begin);
        if (mprotect(buffer.begin, whole, PROT_READ | PROT_WRITE) != 0) {
            munmap(base_, reserved_);
            throw std::runtime_error("cannot allocate memory for buffers");
        }
        fill_slack(buffer.begin, buffer.data, buffer.place);
        fill_slack(buffer.data + buffer.bytes, buffer.end, buffer.place);
        if (buffer.role == Role::INPUT) {
            const char* content = static_cast<const char*>(s.content);
            buffer.pristine.assign(content, content + s.bytes);
            if (s.bytes) std::memcpy(buffer.data, content, s.bytes);
        }
        place = buffer.end + GUARD;
        buffers.push_back(std::move(buffer));
        protect(buffers.back());
    }
}

Arena::~Arena() { munmap(base_, reserved_); }

void Arena::prepare(bool stale) {
    for (Buffer& buffer : buffers) {
        switch (buffer.role) {
            case Role::INPUT:
                break;
            case Role::OUTPUT:
                if (stale) {
                    if (buffer.bytes) std::memcpy(buffer.data, buffer.reference, buffer.bytes);
                } else {
                    fill_words(buffer.data, buffer.bytes, POISON);
                }
                break;
            case Role::ZEROED:
                std::memset(buffer.data, 0, buffer.bytes);
                break;
            case Role::SCRATCH:
                fill_words(buffer.data, buffer.bytes, POISON);
                break;
        }
    }
}

bool Arena::restore(std::string& message) {
    bool intact = true;
    for (Buffer& buffer : buffers) {
        char* data_end = buffer.data + buffer.bytes;
        char* page_end = buffer.data + pages(buffer.bytes);
        bool slack = true, content = true;
        if (buffer.opened) {
            slack = slack_intact(buffer.begin, buffer.data, buffer.place) &&
                    slack_intact(data_end, buffer.end, buffer.place);
            if (buffer.role == Role::INPUT && buffer.bytes) {
                content = std::memcmp(buffer.data, buffer.pristine.data(), buffer.bytes) == 0;
            }
        } else if (writable(buffer.role)) {
            slack = slack_intact(data_end, page_end, buffer.place);
        }
        if (!slack || !content) {
            if (!message.empty()) message += "; ";
            message += slack ? "wrote into input '" : "wrote outside '";
            message += buffer.name + "'";
            intact = false;
            if (!slack && buffer.opened) fill_slack(buffer.begin, buffer.data, buffer.place);
            if (!slack) fill_slack(data_end, buffer.opened ? buffer.end : page_end, buffer.place);
            if (!content) std::memcpy(buffer.data, buffer.pristine.data(), buffer.bytes);
        }
        if (buffer.opened) protect(buffer);
    }
    return intact;
}

Buffer* Arena::owner(const char* address) {
    if (address < base_ || address >= base_ + reserved_) return nullptr;
    for (Buffer& buffer : buffers) {
        if (address < buffer.end + GUARD / 2) return &buffer;
    }
    return buffers.empty() ? nullptr : &buffers.back();
}

bool Arena::open(char* address) {
    for (Buffer& buffer : buffers) {
        if (address < buffer.begin || address >= buffer.end) continue;
        // A second fault in an open buffer is no write to protected memory: not ours to repair.
        if (buffer.opened) return false;
        buffer.opened = true;
        return mprotect(buffer.begin, static_cast<std::size_t>(buffer.end - buffer.begin),
                        PROT_READ | PROT_WRITE) == 0;
    }
    return false;
}

}  // namespace hostgpu
