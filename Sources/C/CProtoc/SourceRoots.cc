#include "SourceRoots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace switchboard {
namespace {

namespace fs = std::filesystem;

// Larger than any .proto file written by hand; the descriptors of a larger one would take gigabytes.
constexpr off_t kLargestSource = 16 << 20;

std::string Join(const std::string &root, const std::string &name) {
  return root.empty() ? name : root + "/" + name;
}

bool Exists(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool IsDirectory(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool IsSameFile(const std::string &one, const std::string &other) {
  struct stat first, second;
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// `path` as an absolute path, without ".", ".." and doubled slashes.
std::string Canonical(const std::string &path) {
  std::string text = fs::absolute(path.empty() ? "." : path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// `path` without redundant parts, such as the "." of a root.
std::string WithoutDots(const std::string &path) {
  fs::path result;
  for (const fs::path &part : fs::path(path)) {
    if (part != ".") result /= part;
  }
  return result.empty() ? path : result.string();
}

// The part of `path` below `root`; empty if it is not below it.
std::string Below(const std::string &root, const std::string &path) {
  std::string prefix = Canonical(root);
  if (prefix.back() != '/') prefix += '/';
  const std::string whole = Canonical(path);
  return whole.compare(0, prefix.size(), prefix) == 0 ? whole.substr(prefix.size()) : "";
}

// Whether `name` is valid relative to a root: every part is a plain name.
bool IsPlainName(const std::string &name) {
  if (name.find('\\') != std::string::npos || name.find('\0') != std::string::npos) return false;
  size_t start = 0;
  while (start <= name.size()) {
    const size_t end = std::min(name.find('/', start), name.size());
    const std::string part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

// Fills `content` from the file at `path`. Returns the error's number; 0 on success.
int ReadFile(const std::string &path, std::string *content) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int failure = 0;
  size_t place = 0;
  while (place < content->size() && failure == 0) {
    const ssize_t count = ::read(file, &(*content)[place], content->size() - place);
    if (count > 0) {
      place += static_cast<size_t>(count);
    } else if (count == 0) {
      failure = EIO;
    } else if (errno != EINTR) {
      failure = errno;
    }
  }
  ::close(file);
  return failure;
}

}  // namespace

std::string SourceRoots::Find(const std::string &name) const {
  if (!IsPlainName(name)) return "";
  for (const std::string &root : roots_) {
    const std::string path = Join(root, name);
    if (Exists(path)) return path;
  }
  return "";
}

std::optional<std::string> SourceRoots::NameOf(const std::string &path, std::string *error) const {
  if (IsDirectory(path)) {
    *error = "It is a directory. Name the .proto files in it.";
    return std::nullopt;
  }
  if (Exists(path)) {
    for (const std::string &root : roots_) {
      const std::string name = Below(root, path);
      if (name.empty()) continue;
      const std::string found = Find(name);
      if (IsSameFile(found, path)) return name;
      *error = "Its name in imports is \"" + name + "\", which is that of \"" + WithoutDots(found) +
               "\" too, in an earlier one of the include directories (-I, or 'includes'): only one of the two can be "
               "compiled. Rename one, or name a directory above both, so that the names begin with different folders.";
      return std::nullopt;
    }
  }
  if (!Find(path).empty()) return path;
  *error = Exists(path) ? "File is not in any include directory (-I). Add the directory to which "
                          "its name in imports is relative."
                        : NotFound(path);
  return std::nullopt;
}

std::string SourceRoots::PathOf(const std::string &name, const std::string &given) const {
  const std::string found = Find(name);
  if (found.empty()) return name;
  return IsSameFile(found, given) ? given : WithoutDots(found);
}

std::string SourceRoots::NotFound(const std::string &path) const {
  if (!path.empty() && path.front() == '/') return "File not found.";
  std::string places;
  for (const std::string &root : roots_) places += (places.empty() ? "" : ", ") + WithoutDots(root);
  return "File not found in any include directory (-I): " + places + ".";
}

std::optional<std::string> SourceRoots::Read(const std::string &name, std::string *error) const {
  if (!IsPlainName(name)) {
    *error = "Backslashes, consecutive slashes, \".\", or \"..\" are not allowed in an import or a file's name.";
    return std::nullopt;
  }
  const std::string path = Find(name);
  struct stat status;
  if (path.empty()) {
    *error = NotFound(name);
  } else if (::stat(path.c_str(), &status) != 0) {
    *error = std::string("Could not open the file: ") + ::strerror(errno) + ".";
  } else if (S_ISDIR(status.st_mode)) {
    *error = "Input file is a directory.";
  } else if (!S_ISREG(status.st_mode)) {
    *error = "Input file is not a regular file.";
  } else if (status.st_size > kLargestSource) {
    *error = "Input file is larger than " + std::to_string(kLargestSource >> 20) + " MiB.";
  } else {
    std::string content(static_cast<size_t>(status.st_size), '\0');
    const int failure = ReadFile(path, &content);
    if (failure == 0) return content;
    *error = std::string("Could not read the file: ") + ::strerror(failure) + ".";
  }
  return std::nullopt;
}

}  // namespace switchboard
