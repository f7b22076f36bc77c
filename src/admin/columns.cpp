#include "admin/columns.hpp"

#include <algorithm>

namespace retryd::admin {

namespace {

constexpr std::string_view margin = "  ";

// As wide as its longest cell; the names take what is left of the width.
std::vector<std::size_t> column_sizes(const std::vector<Row>& rows) {
    std::vector<std::size_t> sizes(rows.front().size(), 0);
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) sizes[i] = std::max(sizes[i], columns(row[i]));
    }
    std::size_t others = 0;
    for (std::size_t i = 1; i < sizes.size(); ++i) others += sizes[i] + margin.size();
    sizes[0] = std::min(sizes[0], width - std::min(width, others));
    return sizes;
}

// A name that does not fit has a line of its own.
std::string set_row(const Row& row, const std::vector<std::size_t>& sizes, std::size_t first_number) {
    std::string line = columns(row[0]) > sizes[0] ? row[0] + "\n" + spaces(sizes[0]) : left(row[0], sizes[0]);
    for (std::size_t i = 1; i < row.size(); ++i) {
        line.append(margin).append(i < first_number ? left(row[i], sizes[i]) : right(row[i], sizes[i]));
    }
    return line + "\n";
}

}  // namespace

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string spaces(std::size_t count) {
    return std::string(count, ' ');
}

std::string left(std::string_view text, std::size_t size) {
    return std::string{text} + spaces(size - std::min(size, columns(text)));
}

std::string right(std::string_view text, std::size_t size) {
    return spaces(size - std::min(size, columns(text))).append(text);
}

Row words_of(std::string_view text) {
    Row words;
    while (!text.empty()) {
        words.emplace_back(text.substr(0, text.find(' ')));
        text.remove_prefix(std::min(text.size(), words.back().size() + 1));
    }
    return words;
}

std::string wrapped(const Row& pieces, std::size_t first_indent, std::size_t indent) {
    std::string out = spaces(first_indent);
    std::size_t used = first_indent;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (i > 0) {
            const bool fits = used + 1 + columns(pieces[i]) <= width;
            out += fits ? " " : "\n" + spaces(indent);
            used = fits ? used + 1 : indent;
        }
        out += pieces[i];
        used += columns(pieces[i]);
    }
    return out + "\n";
}

std::string paragraph(std::string_view text, std::size_t first_indent, std::size_t indent) {
    return wrapped(words_of(text), first_indent, indent);
}

std::string set_table(const std::vector<Row>& rows, std::size_t first_number) {
    const std::vector<std::size_t> sizes = column_sizes(rows);
    std::string text;
    for (const Row& row : rows) text += set_row(row, sizes, first_number);
    return text;
}

}  // namespace retryd::admin
