// The directories in which .proto files are looked up.

#ifndef SWITCHBOARD_SOURCE_ROOTS_H
#define SWITCHBOARD_SOURCE_ROOTS_H

#include <optional>
#include <string>
#include <vector>

namespace switchboard {

// Replaces libprotoc's DiskSourceTree, which opens any kind of file (a FIFO blocks it, a device never ends) and does
// not notice that a relative and an absolute path point to the same directory.
class SourceRoots {
 public:
  explicit SourceRoots(std::vector<std::string> roots) : roots_(std::move(roots)) {}

  // The name that imports use for the file that a user gave as `path`. On failure returns nothing and sets `error`.
  std::optional<std::string> NameOf(const std::string &path, std::string *error) const;

  // The path to show for the file `name`: `given` if that is the same file, otherwise the path where it was found. A
  // file that does not exist keeps its name.
  std::string PathOf(const std::string &name, const std::string &given) const;

  // The contents of the file `name` in the first root that has it. On failure returns nothing and sets `error`.
  std::optional<std::string> Read(const std::string &name, std::string *error) const;

 private:
  // The path of `name` on disk; empty if no root has it.
  std::string Find(const std::string &name) const;
  // The error message for `path`, which does not exist.
  std::string NotFound(const std::string &path) const;

  std::vector<std::string> roots_;
};

}  // namespace switchboard

#endif
