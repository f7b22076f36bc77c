#include "model/content_hash.hpp"

#include "model/header_table.hpp"
#include "model/original.hpp"
#include "model/properties.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace retryd::model {
namespace {

// Each part goes in behind its length, so that no two lists of parts look alike.
class Digest {
public:
    Digest() : context_(EVP_MD_CTX_new()), sound_(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1) {}

    void add(std::string_view part) {
        add_number(part.size());
        add_bytes(part.data(), part.size());
    }
    void add_number(std::uint64_t number) { add_bytes(&number, sizeof number); }
    [[nodiscard]] std::optional<ContentHash> end() {
        ContentHash hash{};
        if (!sound_ || EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) != 1) return std::nullopt;
        return hash;
    }

private:
    struct Free {
        void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    };
    void add_bytes(const void* bytes, std::size_t size) {
        sound_ = sound_ && EVP_DigestUpdate(context_.get(), bytes, size) == 1;
    }

    std::unique_ptr<EVP_MD_CTX, Free> context_;
    bool sound_;
};

// Where the broker writes a header it sorts them all by name, and makes a table where there was none.
void add_headers(Digest& digest, std::string_view table) {
    auto headers = read_table(table);
    if (!headers) return digest.add(table);  // the broker can't read it either, and leaves it alone
    std::erase_if(*headers, [](const HeaderView& header) { return is_death_header(header.name); });
    std::stable_sort(headers->begin(), headers->end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& header : *headers) {
        digest.add(header.name);
        digest.add({&header.value.type, 1});
        digest.add(header.value.bytes);
    }
}

void add_properties(Digest& digest, const std::string& bytes) {
    auto properties = read_properties(bytes);
    if (!properties) return digest.add(bytes);
    add_headers(digest, properties->headers.value_or(std::string_view{}));
    properties->headers.reset();
    digest.add(write_properties(*properties));
}

}  // namespace

std::optional<ContentHash> content_hash(const Source& source, const Arrival& arrival, const Message& message) {
    Digest digest;
    digest.add_number(source.queue.value);
    digest.add_number(static_cast<std::uint64_t>(source.side));
    const bool from_work = source.side == Side::work;
    digest.add(from_work ? arrival.exchange : std::string{});
    digest.add(from_work ? arrival.routing_key : std::string{});
    digest.add(message.body);
    add_properties(digest, message.properties);
    return digest.end();
}

}  // namespace retryd::model
