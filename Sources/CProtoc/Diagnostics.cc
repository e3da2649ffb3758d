#include "Diagnostics.h"

namespace switchboard {
namespace {

// Nobody reads more, and binary junk has an error for every few bytes.
constexpr size_t kMostDiagnostics = 1000;

std::string Format(const std::string &file, Place place, const std::string &message) {
  std::string text = file;
  if (place.line >= 0) {
    text += ":" + std::to_string(place.line + 1) + ":" + std::to_string(place.column + 1);
  }
  return text + ": " + message;
}

void Append(const std::string &file, Place place, const std::string &message, const char *noun,
            std::vector<std::string> *texts) {
  if (texts->size() < kMostDiagnostics) {
    texts->push_back(Format(file, place, message));
  } else if (texts->size() == kMostDiagnostics) {
    const std::string count = std::to_string(kMostDiagnostics);
    texts->push_back(Format(file, {}, "There are more than " + count + " " + noun + "; the rest is left out."));
  }
}

}  // namespace

void Diagnostics::AddError(const std::string &file, Place place, const std::string &message) {
  Append(file, place, message, "errors", &errors_);
}

void Diagnostics::AddWarning(const std::string &file, Place place, const std::string &message) {
  Append(file, place, "warning: " + message, "warnings", &warnings_);
}

}  // namespace switchboard
