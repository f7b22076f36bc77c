// Property bytes as they come from the broker: read and written back, made fit for a copy, and put back on its return.

#include "model/properties.hpp"
#include "fuzz/input.hpp"
#include "fuzz/messages.hpp"
#include "model/original.hpp"

using namespace retryd;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input in(data, size);
    auto bytes = property_bytes(in);
    if (bytes.size() > 1) bytes[1] = static_cast<char>(bytes[1] & ~2);  // no property has this flag, so nobody writes it back
    const auto properties = model::read_properties(bytes);
    if (!properties) return 0;
    fuzz::require(model::write_properties(*properties) == bytes, "properties are written back byte for byte");

    const auto parted = model::set_aside(*properties, std::nullopt);
    fuzz::require(!parted.kept.user_id && !parted.kept.expiration && parted.kept.delivery_mode == 2,
                  "a copy is safe to publish");
    model::TableWriter note;
    note.add_table(model::original_header, parted.set_aside);
    const auto table = parted.headers + note.bytes();
    auto copy = parted.kept;
    copy.headers = table;
    const auto headers = model::read_table(table);
    fuzz::require(headers.has_value(), "the table of a copy can be read");
    fuzz::require(fuzz::same_original(model::put_back(copy, *headers), bytes), "the original comes back from its copy");

    const auto without_record = model::without_record(*properties);
    const auto bare = model::read_properties(without_record);
    fuzz::require(bare.has_value(), "a copy without a record can be read");
    fuzz::require(!bare->headers || model::read_table(*bare->headers).has_value(), "and so can its table");
    return 0;
}
