// Errors and warnings, in the form that users see.

#ifndef SWITCHBOARD_DIAGNOSTICS_H
#define SWITCHBOARD_DIAGNOSTICS_H

#include <map>
#include <string>
#include <vector>

namespace switchboard {

// A place in a source file as libprotoc counts: from 0, and a line of -1 is the whole file.
struct Place {
  int line = -1;
  int column = 0;
};

class Diagnostics {
 public:
  // Has what concerns the file called `name` start with `path`, unless it already starts with another.
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
