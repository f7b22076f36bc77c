#pragma once
// A thread with room for the library's recursion: rabbitmq-c decodes nested tables without a limit, and one frame can hold
// 18,000 levels. Joins on destruction: whatever its body waits for must have been ended before.

#include <pthread.h>

#include <functional>

namespace retryd::amqp {

class Thread {
public:
    // `name` shows in top and ps; 15 characters at most. Throws std::system_error where no thread can be made.
    Thread(const char* name, std::function<void()> body);
    ~Thread();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

private:
    static void* run(void* self);

    std::function<void()> body_;
    pthread_t thread_{};
};

}  // namespace retryd::amqp
