#pragma once
// What went wrong, as a value: expected failures are returned, never thrown.
//
//   Result<Milliseconds> parse_duration(std::string_view);
//   auto d = parse_duration("5");
//   if (!d) report(d.error());
//
// No Problem is ever built from text that may hold a secret.

#include <boost/system/result.hpp>

#include <string>

namespace retryd::model {

enum class ProblemCode {
    bad_value,      // understood, but not allowed; `hint` says what would be
    bad_syntax,     // not understood
    missing,        // something required is absent
    duplicate,      // said twice
    unknown,        // a name that nobody knows
    not_supported,  // known, due in a later version
    too_large,      // over a stated limit
    unavailable,    // the other side did not answer
    refused,        // the other side said no
    system,         // the operating system said no
};

struct Problem {
    ProblemCode code = ProblemCode::bad_value;
    std::string place;  // "file:line:column", a queue, an address; empty where there is none
    std::string what;   // one sentence without a full stop
    std::string hint;   // what would be right; may be empty
};

// "place: what; hint" in one line.
[[nodiscard]] std::string to_text(const Problem& problem);

template <class T>
using Result = boost::system::result<T, Problem>;

// Boost.System asks for it: a value taken from a failed Result is a broken program.
[[noreturn]] void throw_exception_from_error(const Problem& problem, const boost::source_location& where);

}  // namespace retryd::model
