#include "policyfile/policyfile.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace retryd::policyfile {

using model::Problem;
using model::ProblemCode;
using model::Result;

namespace {

constexpr int longest_silence_ms = 10'000;

class Descriptor {
public:
    // Without waiting: a pipe without a writer must not hang the start.
    explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

Problem system_problem() {
    return {ProblemCode::system, {}, std::strerror(errno), {}};
}

// A pipe whose writer is slow.
bool comes_in_time(int descriptor) {
    pollfd wanted{descriptor, POLLIN, 0};
    const bool came = ::poll(&wanted, 1, longest_silence_ms) > 0;
    errno = came ? 0 : ETIMEDOUT;
    return came;
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
    const Descriptor file(path);
    if (file.number() < 0) return system_problem();
    struct stat facts {};
    if (::fstat(file.number(), &facts) != 0) return system_problem();
    if (S_ISDIR(facts.st_mode)) return Problem{ProblemCode::system, {}, "is a directory", {}};
    std::string bytes;
    for (;;) {
        char chunk[4096];
        const ssize_t count = ::read(file.number(), chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN && comes_in_time(file.number())) continue;
        if (count < 0) return system_problem();
        if (count == 0) return bytes;
        bytes.append(chunk, static_cast<std::size_t>(count));
        if (bytes.size() > limit)
            return Problem{ProblemCode::too_large, {}, "is larger than " + std::to_string(limit) + " bytes", {}};
    }
}

}  // namespace

Environment Environment::of_process() {
    const auto variable = [](const std::string& name) -> std::optional<std::string> {
        const char* const value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
    return {variable, read_file};
}

}  // namespace retryd::policyfile
