// A header table as it comes from the broker: read and written back, shown as JSON and as values of HTTP headers.

#include "deliver/http_header_value.hpp"
#include "fuzz/input.hpp"
#include "fuzz/json.hpp"
#include "model/header_json.hpp"
#include "model/header_table.hpp"

using namespace retryd;

namespace {

void show(const model::FieldView& value) {
    std::string json;
    model::append_json(json, value);
    static_cast<void>(fuzz::parsed(json));

    std::string http;
    deliver::append_header_value(http, value);
    const bool plain = std::all_of(http.begin(), http.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
    fuzz::require(plain, "a value of an HTTP header is printable ASCII");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto table = fuzz::Input(data, size).rest();
    const auto headers = model::read_table(table);
    if (headers) {
        model::TableWriter copy;
        for (const auto& [name, value] : *headers) {
            copy.add(name, value);
            show(value);
        }
        fuzz::require(copy.bytes() == table, "a table is written back byte for byte");
    }
    if (const auto values = model::read_array(table)) {
        for (const auto& value : *values) show(value);
    }
    return 0;
}
