// Loaded before all else (LD_PRELOAD), sets the wall clock of one process: off by the seconds in the file that
// WALL_CLOCK_OFFSET names, eight bytes, whenever they change. Monotonic clocks and timers stay the kernel's, as they do
// when somebody sets the time of a machine.

#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

const volatile std::int64_t* map_offset() {
    const int file = ::open(std::getenv("WALL_CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
    void* const page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) std::abort();
    ::close(file);
    return static_cast<const volatile std::int64_t*>(page);
}

std::int64_t offset() {
    static const auto* const seconds = map_offset();
    return *seconds;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
    const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
    return result;
}

extern "C" int gettimeofday(timeval* now, void* /*zone*/) noexcept {
    timespec exact{};
    clock_gettime(CLOCK_REALTIME, &exact);
    *now = {exact.tv_sec, exact.tv_nsec / 1000};
    return 0;
}

extern "C" std::time_t time(std::time_t* now) noexcept {
    timespec exact{};
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now != nullptr) *now = exact.tv_sec;
    return exact.tv_sec;
}
