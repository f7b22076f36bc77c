// Loaded before all else (LD_PRELOAD), counts the calls of a process that are system calls on its sockets, and those that wait for
// them, by all threads. At the end of the process they are in the file that RETRYD_CALLS names: a name and a number a line.

#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

enum Call { sends, receives, waits, call_count };
constexpr std::array<const char*, call_count> names{"sends", "receives", "waits"};
std::array<std::atomic<std::uint64_t>, call_count> counts;

// The C library's own.
template <class Function>
Function* real(const char* name) {
    void* const found = ::dlsym(RTLD_NEXT, name);
    if (found == nullptr) std::abort();
    return reinterpret_cast<Function*>(found);
}

struct Report {
    ~Report() {
        std::FILE* const file = std::fopen(std::getenv("RETRYD_CALLS"), "w");
        if (file == nullptr) std::abort();
        for (std::size_t i = 0; i < call_count; ++i) {
            std::fprintf(file, "%s %llu\n", names[i], static_cast<unsigned long long>(counts[i].load()));
        }
        std::fclose(file);
    }
} report;

}  // namespace

extern "C" ssize_t send(int file, const void* data, size_t size, int flags) {
    static auto* const next = real<decltype(send)>("send");
    ++counts[sends];
    return next(file, data, size, flags);
}
extern "C" ssize_t sendmsg(int file, const msghdr* message, int flags) {
    static auto* const next = real<decltype(sendmsg)>("sendmsg");
    ++counts[sends];
    return next(file, message, flags);
}
extern "C" ssize_t writev(int file, const iovec* parts, int count) {
    static auto* const next = real<decltype(writev)>("writev");
    ++counts[sends];
    return next(file, parts, count);
}
extern "C" ssize_t recv(int file, void* data, size_t size, int flags) {
    static auto* const next = real<decltype(recv)>("recv");
    ++counts[receives];
    return next(file, data, size, flags);
}
extern "C" ssize_t recvmsg(int file, msghdr* message, int flags) {
    static auto* const next = real<decltype(recvmsg)>("recvmsg");
    ++counts[receives];
    return next(file, message, flags);
}
extern "C" int poll(pollfd* files, nfds_t count, int patience) {
    static auto* const next = real<decltype(poll)>("poll");
    ++counts[waits];
    return next(files, count, patience);
}
extern "C" int epoll_wait(int file, epoll_event* events, int most, int patience) {
    static auto* const next = real<decltype(epoll_wait)>("epoll_wait");
    ++counts[waits];
    return next(file, events, most, patience);
}
