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
  errors_.push_back(Format(file, place, message));
}

void Diagnostics::AddWarning(const std::string &file, Place place, const std::string &message) {
  warnings_.push_back(Format(file, place, "warning: " + message));
}

}  // namespace switchboard
