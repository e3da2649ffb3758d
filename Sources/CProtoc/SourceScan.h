// A look over a source file before the parser sees it.

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

// Why `source` must not reach the parser, if so. libprotoc's parser and its option interpreter recurse
// for every brace and work quadratically on long option names, without a limit; and this version's
// message for a file of editions would only confuse.
std::optional<ScanError> ScanSource(const std::string &source);

}  // namespace switchboard

#endif
