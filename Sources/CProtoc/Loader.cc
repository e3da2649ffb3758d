#include "Loader.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

#include "SourceScan.h"

namespace switchboard {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::Message;
using google::protobuf::io::ColumnNumber;

// Linking recurses along a chain of public imports.
constexpr size_t kLongestImportChain = 1000;

// Passes the parser's errors in one file to the diagnostics. Its warnings are only about style; protoc does not show
// them either.
class ParseErrors : public google::protobuf::io::ErrorCollector {
 public:
  ParseErrors(const std::string &file, Diagnostics *diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void AddError(int line, ColumnNumber column, const std::string &message) override {
    has_errors_ = true;
    diagnostics_->AddError(file_, {line, column}, message);
  }

  bool has_errors() const { return has_errors_; }

 private:
  const std::string &file_;
  Diagnostics *diagnostics_;
  bool has_errors_ = false;
};

// Whether the file starts with a `syntax` statement; libprotoc records that only here.
bool NamesSyntax(const FileDescriptorProto &proto) {
  const auto &locations = proto.source_code_info().location();
  return std::any_of(locations.begin(), locations.end(), [](const auto &location) {
    return location.path_size() == 1 && location.path(0) == FileDescriptorProto::kSyntaxFieldNumber;
  });
}

}  // namespace

// Passes the linker's errors to the diagnostics, with their positions in the source.
class Loader::LinkErrors : public DescriptorPool::ErrorCollector {
 public:
  explicit LinkErrors(Loader *loader) : loader_(loader) {}

  void AddError(const std::string &file, const std::string &element, const Message *descriptor,
                ErrorLocation location, const std::string &message) override {
    loader_->diagnostics_->AddError(file, PlaceOf(element, descriptor, location), message);
  }

  void AddWarning(const std::string &file, const std::string &element, const Message *descriptor,
                  ErrorLocation location, const std::string &message) override {
    loader_->diagnostics_->AddWarning(file, PlaceOf(element, descriptor, location), message);
  }

 private:
  Place PlaceOf(const std::string &element, const Message *descriptor, ErrorLocation location) const {
    Place place;
    if (location == IMPORT) {
      loader_->locations_.FindImport(descriptor, element, &place.line, &place.column);
    } else {
      loader_->locations_.Find(descriptor, location, &place.line, &place.column);
    }
    return place;
  }

  Loader *loader_;
};

Loader::Loader(const SourceRoots &roots, Diagnostics *diagnostics)
    : roots_(roots), diagnostics_(diagnostics), link_errors_(std::make_unique<LinkErrors>(this)) {}

Loader::~Loader() = default;

const FileDescriptor *Loader::Load(const std::string &name) {
  if (states_.count(name) == 0) Open(name);
  while (!stack_.empty()) Advance();
  return pool_.FindFileByName(name);
}

void Loader::Open(const std::string &name) {
  auto file = std::make_unique<Pending>();
  const bool is_parsed = Parse(name, &file->proto);
  states_[name] = is_parsed ? State::kImporting : State::kFailed;
  if (is_parsed) stack_.push_back(std::move(file));
}

void Loader::Advance() {
  Pending &file = *stack_.back();
  if (file.next_import == file.proto.dependency_size()) {
    Link(file);
    stack_.pop_back();
    return;
  }
  const std::string &import = file.proto.dependency(file.next_import);
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
  // Without its imports, a file would only cause follow-up errors, one per use.
  const bool is_linked =
      !file.is_broken && pool_.BuildFileCollectingErrors(file.proto, link_errors_.get()) != nullptr;
  states_[file.proto.name()] = is_linked ? State::kLinked : State::kFailed;
}

bool Loader::Parse(const std::string &name, FileDescriptorProto *proto) {
  std::string error;
  const auto source = roots_.Read(name, &error);
  diagnostics_->ShowAs(name, roots_.PathOf(name, ""));
  if (!source) {
    diagnostics_->AddError(name, {}, error);
    return false;
  }
  if (const auto refusal = ScanSource(*source)) {
    diagnostics_->AddError(name, refusal->place, refusal->message);
    return false;
  }
  google::protobuf::io::ArrayInputStream stream(source->data(), static_cast<int>(source->size()));
  ParseErrors errors(name, diagnostics_);
  google::protobuf::io::Tokenizer tokenizer(&stream, &errors);
  google::protobuf::compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.RecordSourceLocationsTo(&locations_);
  proto->set_name(name);
  if (!parser.Parse(&tokenizer, proto) || errors.has_errors()) return false;
  if (!NamesSyntax(*proto)) {
    diagnostics_->AddWarning(name, {}, "No syntax specified; proto2 is assumed.");
  }
  return true;
}

void Loader::ReportImport(Pending &file, const std::string &import, const std::string &message) {
  Place place;
  locations_.FindImport(&file.proto, import, &place.line, &place.column);
  diagnostics_->AddError(file.proto.name(), place, message);
  file.is_broken = true;
}

std::string Loader::CycleTo(const std::string &name) const {
  std::string chain;
  for (const auto &file : stack_) {
    if (chain.empty() && file->proto.name() != name) continue;
    chain += file->proto.name() + " -> ";
  }
  return chain + name;
}

}  // namespace switchboard
