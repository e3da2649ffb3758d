// Errors and warnings, in the form that users see.

#ifndef SWITCHBOARD_DIAGNOSTICS_H
#define SWITCHBOARD_DIAGNOSTICS_H

#include <stddef.h>

#include <map>
#include <string>
#include <vector>

namespace switchboard {

// A position in a source file in libprotoc's numbering: from 0; a line of -1 stands for the whole file.
struct Place {
  int line = -1;
  int column = 0;

  bool operator<(const Place &other) const {
    return line != other.line ? line < other.line : column < other.column;
  }
};

// More would be useless, and binary junk causes an error every few bytes.
constexpr size_t kMostDiagnostics = 1000;

class Diagnostics {
 public:
  // Shows `path` in diagnostics about the file `name`, unless a path was set for it before.
  void ShowAs(const std::string &name, const std::string &path) { paths_.emplace(name, path); }

  void AddError(const std::string &file, Place place, const std::string &message);
  void AddWarning(const std::string &file, Place place, const std::string &message);

  const std::vector<std::string> &errors() const { return errors_; }
  const std::vector<std::string> &warnings() const { return warnings_; }

 private:
  void Append(const std::string &file, Place place, const std::string &kind, const std::string &message,
              std::vector<std::string> *texts) const;

  std::map<std::string, std::string> paths_;
  std::vector<std::string> errors_;
  std::vector<std::string> warnings_;
};

}  // namespace switchboard

#endif
