// Errors and warnings, in the form that users see.

#ifndef SWITCHBOARD_DIAGNOSTICS_H
#define SWITCHBOARD_DIAGNOSTICS_H

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
  void AddError(const std::string &file, Place place, const std::string &message);
  void AddWarning(const std::string &file, Place place, const std::string &message);

  const std::vector<std::string> &errors() const { return errors_; }
  const std::vector<std::string> &warnings() const { return warnings_; }

 private:
  std::vector<std::string> errors_;
  std::vector<std::string> warnings_;
};

}  // namespace switchboard

#endif
