#pragma once
// A file descriptor with one owner.

#include <unistd.h>

#include <utility>

namespace retryd::amqp {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        Descriptor old{std::exchange(number_, other.release())};
        return *this;
    }
    ~Descriptor() {
        if (open()) ::close(number_);
    }

    [[nodiscard]] bool open() const { return number_ >= 0; }
    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

}  // namespace retryd::amqp
