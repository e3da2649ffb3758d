#include "ParsedFile.h"

#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>

#include "SourceScan.h"

namespace switchboard {
namespace {

using google::protobuf::Arena;
using google::protobuf::ArenaOptions;
using google::protobuf::FileDescriptorProto;
using google::protobuf::MethodDescriptorProto;
using google::protobuf::MethodOptions;
using google::protobuf::ServiceDescriptorProto;
using google::protobuf::SourceCodeInfo;
using google::protobuf::io::ColumnNumber;

// Blocks that `malloc` takes from what was freed before, instead of from the system.
ArenaOptions ArenaBlocks() {
  ArenaOptions options;
  options.start_block_size = 16 << 10;
  options.max_block_size = 64 << 10;
  return options;
}

// Whether the file starts with a `syntax` statement; libprotoc records that only here.
bool NamesSyntax(const FileDescriptorProto &proto) {
  const auto &locations = proto.source_code_info().location();
  return std::any_of(locations.begin(), locations.end(), [](const auto &location) {
    return location.path_size() == 1 && location.path(0) == FileDescriptorProto::kSyntaxFieldNumber;
  });
}

constexpr char kNoSyntax[] =
    "No syntax specified; proto2 is assumed, where each field has a label. Begin the file with 'syntax = \"proto3\";', or "
    "with 'syntax = \"proto2\";' if that is meant.";

// Whether this is the place of an option of a method, which the parser has not interpreted yet. Generators find mistakes in
// rules of HTTP.
bool IsOptionOfMethod(const SourceCodeInfo::Location &location) {
  return location.path_size() == 7 && location.path(0) == FileDescriptorProto::kServiceFieldNumber &&
         location.path(2) == ServiceDescriptorProto::kMethodFieldNumber &&
         location.path(4) == MethodDescriptorProto::kOptionsFieldNumber &&
         location.path(5) == MethodOptions::kUninterpretedOptionFieldNumber;
}

void KeepComments(FileDescriptorProto *proto) {
  auto *locations = proto->mutable_source_code_info()->mutable_location();
  int kept = 0;
  for (int i = 0; i < locations->size(); ++i) {
    const auto &location = locations->Get(i);
    if (!location.has_leading_comments() && !location.has_trailing_comments() && !IsOptionOfMethod(location)) continue;
    if (kept != i) locations->SwapElements(kept, i);
    ++kept;
  }
  locations->DeleteSubrange(kept, locations->size() - kept);
}

}  // namespace

// Collects the parser's errors. Its warnings are only about style; protoc does not show them either.
class ParsedFile::Errors : public google::protobuf::io::ErrorCollector {
 public:
  explicit Errors(ParsedFile *file) : file_(file) {}

  void AddError(int line, ColumnNumber column, const std::string &message) override {
    file_->Add(true, {line, column}, message);
    has_errors_ = true;
  }

  bool has_errors() const { return has_errors_; }

 private:
  ParsedFile *file_;
  bool has_errors_ = false;
};

ParsedFile::ParsedFile(const SourceRoots &roots, const std::string &name, SourceInfo info)
    : name_(name), arena_(ArenaBlocks()), proto_(Arena::CreateMessage<FileDescriptorProto>(&arena_)) {
  is_parsed_ = Parse(roots);
  if (is_parsed_ && info == SourceInfo::kComments) KeepComments(proto_);
}

bool ParsedFile::Parse(const SourceRoots &roots) {
  std::string error;
  auto source = roots.Read(name_, &error);
  path_ = roots.PathOf(name_, "");
  if (!source) {
    Add(true, {}, error);
    return false;
  }
  source_ = std::move(*source);
  if (const auto refusal = ScanSource(source_)) {
    Add(true, refusal->place, refusal->message);
    return false;
  }
  google::protobuf::io::ArrayInputStream stream(source_.data(), static_cast<int>(source_.size()));
  Errors errors(this);
  google::protobuf::io::Tokenizer tokenizer(&stream, &errors);
  google::protobuf::compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  proto_->set_name(name_);
  const bool is_parsed = parser.Parse(&tokenizer, proto_) && !errors.has_errors();
  // Also of a file with errors, which may be because of that. The parser stops at a syntax that it does not know.
  if (!NamesSyntax(*proto_) && parser.GetSyntaxIdentifier() == "proto2") Add(false, {}, kNoSyntax);
  if (!is_parsed) return false;
  NoteImports();
  return true;
}

void ParsedFile::NoteImports() {
  for (const auto &location : proto_->source_code_info().location()) {
    if (location.path_size() != 2 || location.path(0) != FileDescriptorProto::kDependencyFieldNumber) continue;
    import_places_[proto_->dependency(location.path(1))] = {location.span(0), location.span(1)};
  }
}

Place ParsedFile::PlaceOfImport(const std::string &name) const {
  const auto place = import_places_.find(name);
  return place == import_places_.end() ? Place{} : place->second;
}

void ParsedFile::Add(bool is_error, Place place, const std::string &message) {
  // One more than is shown, so that the omission is noticed.
  if (findings_.size() <= kMostDiagnostics) findings_.push_back({is_error, place, message});
}

void ParsedFile::Report(Diagnostics *diagnostics) const {
  diagnostics->ShowAs(name_, path_);
  for (const Finding &finding : findings_) {
    if (finding.is_error) {
      diagnostics->AddError(name_, finding.place, finding.message);
    } else {
      diagnostics->AddWarning(name_, finding.place, finding.message);
    }
  }
}

}  // namespace switchboard
