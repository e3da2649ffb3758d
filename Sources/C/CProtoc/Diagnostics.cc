#include "Diagnostics.h"

namespace switchboard {
namespace {

std::string Format(const std::string &file, Place place, const std::string &message) {
  std::string text = file;
  if (place.line >= 0) {
    text += ":" + std::to_string(place.line + 1) + ":" + std::to_string(place.column + 1);
  }
  return text + ": " + message;
}

}  // namespace

void Diagnostics::AddError(const std::string &file, Place place, const std::string &message) {
  Append(file, place, "error", message, &errors_);
}

void Diagnostics::AddWarning(const std::string &file, Place place, const std::string &message) {
  Append(file, place, "warning", message, &warnings_);
}

void Diagnostics::Append(const std::string &file, Place place, const std::string &kind,
                         const std::string &message, std::vector<std::string> *texts) const {
  const auto known = paths_.find(file);
  const std::string &path = known == paths_.end() ? file : known->second;
  if (texts->size() < kMostDiagnostics) {
    texts->push_back(Format(path, place, kind + ": " + message));
  } else if (texts->size() == kMostDiagnostics) {
    const std::string count = std::to_string(kMostDiagnostics);
    const std::string rest = "There are more than " + count + " " + kind + "s; the rest are omitted.";
    texts->push_back(Format(path, {}, kind + ": " + rest));
  }
}

}  // namespace switchboard
