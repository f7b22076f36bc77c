#pragma once
// A folder for one test, gone with everything in it afterwards.

#include <cstdlib>
#include <filesystem>
#include <string>

struct TempFolder {
    std::string path = (std::filesystem::temp_directory_path() / "retryd-XXXXXX").string();
    TempFolder() {
        if (::mkdtemp(path.data()) == nullptr) std::abort();
    }
    ~TempFolder() { std::filesystem::remove_all(path); }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
};
