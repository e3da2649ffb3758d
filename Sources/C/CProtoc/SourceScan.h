// Checks a source file before it is parsed.

#ifndef SWITCHBOARD_SOURCE_SCAN_H
#define SWITCHBOARD_SOURCE_SCAN_H

#include <optional>
#include <string>

#include "Diagnostics.h"

namespace switchboard {

struct ScanError {
  Place place;
  std::string message;
};

// Returns an error if `source` must not be parsed. libprotoc's parser and its option interpreter recurse for every
// brace and take quadratic time for long option names, without a limit; and its message for a file with an edition
// would be confusing.
std::optional<ScanError> ScanSource(const std::string &source);

}  // namespace switchboard

#endif
