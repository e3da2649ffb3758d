#include "Loader.h"

#include <algorithm>
#include <utility>

namespace switchboard {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;

// Linking recurses along a chain of public imports.
constexpr size_t kLongestImportChain = 1000;

}  // namespace

// Passes the linker's errors in one file to the diagnostics, with their positions in the source.
class Loader::LinkErrors : public DescriptorPool::ErrorCollector {
 public:
  LinkErrors(Pending *file, Diagnostics *diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void AddError(const std::string &name, const std::string &element, const Message *descriptor,
                ErrorLocation location, const std::string &message) override {
    diagnostics_->AddError(name, PlaceOf(element, descriptor, location), message);
  }

  void AddWarning(const std::string &, const std::string &element, const Message *descriptor,
                  ErrorLocation location, const std::string &message) override {
    warnings_.push_back({PlaceOf(element, descriptor, location), message});
  }

  // Reports the warnings in the order of the source. libprotobuf's is that of unused imports' addresses.
  void ReportWarnings() {
    std::sort(warnings_.begin(), warnings_.end());
    for (const auto &[place, message] : warnings_) {
      diagnostics_->AddWarning(file_->proto().name(), place, message);
    }
  }

 private:
  Place PlaceOf(const std::string &element, const Message *descriptor, ErrorLocation location) const {
    return location == IMPORT ? file_->parsed->PlaceOfImport(element)
                              : file_->Places().Find(descriptor, location);
  }

  Pending *file_;
  Diagnostics *diagnostics_;
  std::vector<std::pair<Place, std::string>> warnings_;
};

const SourcePlaces &Loader::Pending::Places() {
  if (places == nullptr) places = std::make_unique<SourcePlaces>(*parsed);
  return *places;
}

Loader::Loader(ParseAhead *parser, Diagnostics *diagnostics) : parser_(parser), diagnostics_(diagnostics) {}

Loader::~Loader() = default;

const FileDescriptor *Loader::Load(const std::string &name) {
  if (states_.count(name) == 0) Open(name);
  while (!stack_.empty()) Advance();
  return pool_.FindFileByName(name);
}

void Loader::Open(const std::string &name) {
  auto file = std::make_unique<Pending>();
  file->parsed = parser_->Take(name);
  file->parsed->Report(diagnostics_);
  const bool is_parsed = file->parsed->is_parsed();
  states_[name] = is_parsed ? State::kImporting : State::kFailed;
  if (is_parsed) stack_.push_back(std::move(file));
}

void Loader::Advance() {
  Pending &file = *stack_.back();
  if (file.next_import == file.proto().dependency_size()) {
    Link(file);
    stack_.pop_back();
    return;
  }
  const std::string &import = file.proto().dependency(file.next_import);
  const auto known = states_.find(import);
  if (known == states_.end() && stack_.size() >= kLongestImportChain) {
    ReportImport(file, import, "A chain of more than " + std::to_string(kLongestImportChain) + " imports.");
  } else if (known == states_.end()) {
    Open(import);
    return;
  } else if (known->second == State::kImporting) {
    ReportImport(file, import, "File recursively imports itself: " + CycleTo(import));
  } else if (known->second == State::kFailed) {
    ReportImport(file, import, "Import \"" + import + "\" was not found or had errors.");
  }
  ++file.next_import;
}

void Loader::Link(Pending &file) {
  LinkErrors errors(&file, diagnostics_);
  // Without its imports, a file would only cause follow-up errors, one per use.
  const bool is_linked =
      !file.is_broken && pool_.BuildFileCollectingErrors(file.proto(), &errors) != nullptr;
  errors.ReportWarnings();
  states_[file.proto().name()] = is_linked ? State::kLinked : State::kFailed;
}

void Loader::ReportImport(Pending &file, const std::string &import, const std::string &message) {
  diagnostics_->AddError(file.proto().name(), file.parsed->PlaceOfImport(import), message);
  file.is_broken = true;
}

std::string Loader::CycleTo(const std::string &name) const {
  std::string chain;
  for (const auto &file : stack_) {
    if (chain.empty() && file->proto().name() != name) continue;
    chain += file->proto().name() + " -> ";
  }
  return chain + name;
}

}  // namespace switchboard
