#include "programs/tally.hpp"

#include "programs/stamp.hpp"

#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace retryd::bench {
namespace {

constexpr std::chrono::milliseconds aftermath{50};

double cpu_seconds(clockid_t clock) {
    timespec spent{};
    if (clock_gettime(clock, &spent) != 0) give_up("no clock of a process that is watched");
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
}

clockid_t clock_of(const std::string& pid) {
    clockid_t clock{};
    if (clock_getcpuclockid(static_cast<pid_t>(std::atoi(pid.c_str())), &clock) != 0) give_up("no process to watch", pid);
    return clock;
}

}  // namespace

Tally::Tally(const Options& options)
    : wanted_(options.number("count")),
      watched_(options.list("watch")),
      records_file_(options.has("records") ? options.text("records") : "") {
    if (!records_file_.empty()) records_.reserve(wanted_);
}

Tally::Look Tally::look() const {
    Look seen{steady_now(), {{"self", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID)}}};
    for (const auto& pid : watched_) seen.cpu[pid] = cpu_seconds(clock_of(pid));
    return seen;
}

void Tally::handled() {
    ++handled_;
    if (complete()) end_ = steady_now();
}

void Tally::note(std::uint64_t number, std::size_t bytes, std::chrono::nanoseconds span) {
    if (!records_file_.empty()) records_.push_back({number, bytes, span.count()});
    handled();
}

void Tally::print() {
    std::this_thread::sleep_for(aftermath);
    const auto now = look();
    const std::chrono::duration<double> took = end_ - begin_->at;
    std::printf("{\"count\":%llu,\"seconds\":%.6f,\"cpu\":{", static_cast<unsigned long long>(handled_), took.count());
    const char* between = "";
    for (const auto& [who, seconds] : now.cpu) {
        std::printf("%s\"%s\":%.6f", between, who.c_str(), seconds - begin_->cpu.at(who));
        between = ",";
    }
    std::printf("}}\n");
    if (!records_file_.empty()) write_records();
}

void Tally::write_records() const {
    std::ofstream file(records_file_, std::ios::binary);
    file.write(static_cast<const char*>(static_cast<const void*>(records_.data())),
               static_cast<std::streamsize>(records_.size() * sizeof(Record)));
    if (!file) give_up("cannot write", records_file_);
}

}  // namespace retryd::bench
