// The directories that .proto files are looked up in.

#ifndef SWITCHBOARD_SOURCE_ROOTS_H
#define SWITCHBOARD_SOURCE_ROOTS_H

#include <optional>
#include <string>
#include <vector>

namespace switchboard {

// Stands in for libprotoc's DiskSourceTree, which opens whatever it is pointed at (a FIFO blocks it,
// a device never ends) and cannot tell that a relative and an absolute path are the same place.
class SourceRoots {
 public:
  explicit SourceRoots(std::vector<std::string> roots) : roots_(std::move(roots)) {}

  // The name under which imports find the file that a user gave as `path`. On failure returns
  // nothing and sets `error`.
  std::optional<std::string> NameOf(const std::string &path, std::string *error) const;

  // The path to show for the file called `name`: `given` where that leads to it too, otherwise the one that
  // it was found at. A file that is not there keeps its name.
  std::string PathOf(const std::string &name, const std::string &given) const;

  // The content of the file called `name` under the first root that has one. On failure returns
  // nothing and sets `error`.
  std::optional<std::string> Read(const std::string &name, std::string *error) const;

 private:
  // The path on disk that `name` leads to; empty where no root has it.
  std::string Find(const std::string &name) const;
  // What to say of `path`, which is not there.
  std::string NotFound(const std::string &path) const;

  std::vector<std::string> roots_;
};

}  // namespace switchboard

#endif
