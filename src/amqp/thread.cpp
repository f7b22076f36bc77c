#include "amqp/thread.hpp"

#include <cstddef>
#include <system_error>
#include <utility>

namespace retryd::amqp {

namespace {

constexpr std::size_t stack_size = 8 * 1024 * 1024;

}  // namespace

Thread::Thread(const char* name, std::function<void()> body) : body_(std::move(body)) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    const int error = pthread_create(&thread_, &attributes, &Thread::run, this);
    pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error{error, std::generic_category(), "thread"};
    pthread_setname_np(thread_, name);
}

Thread::~Thread() {
    pthread_join(thread_, nullptr);
}

void* Thread::run(void* self) {
    static_cast<Thread*>(self)->body_();
    return nullptr;
}

}  // namespace retryd::amqp
