#include "CProtoc.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/compiler/plugin.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <exception>
#include <set>
#include <string>
#include <vector>

#include "Diagnostics.h"
#include "Loader.h"
#include "ParseAhead.h"
#include "SourceRoots.h"
#include "Workers.h"

namespace switchboard {
namespace {

using google::protobuf::Arena;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::compiler::CodeGeneratorRequest;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// A serialized request in parts: what stands before the files, and one part a file.
using Parts = std::vector<std::string>;

void SetCompilerVersion(CodeGeneratorRequest *request) {
  auto *version = request->mutable_compiler_version();
  version->set_major(GOOGLE_PROTOBUF_VERSION / 1000000);
  version->set_minor(GOOGLE_PROTOBUF_VERSION / 1000 % 1000);
  version->set_patch(GOOGLE_PROTOBUF_VERSION % 1000);
  version->set_suffix("");
}

std::string HeadOf(const std::vector<std::string> &names, const char *parameter) {
  CodeGeneratorRequest request;
  for (const std::string &name : names) request.add_file_to_generate(name);
  if (parameter != nullptr) request.set_parameter(parameter);
  SetCompilerVersion(&request);
  return request.SerializeAsString();
}

// `file` as a field of the request.
std::string PartOf(const FileDescriptor *file) {
  Arena arena;
  auto *proto = Arena::CreateMessage<FileDescriptorProto>(&arena);
  file->CopyTo(proto);
  file->CopyJsonNameTo(proto);
  file->CopySourceCodeInfoTo(proto);
  std::string part;
  const size_t size = proto->ByteSizeLong();
  if (size > INT_MAX) return part;
  uint8_t head[16];
  uint8_t *end = CodedOutputStream::WriteTagToArray(
      WireFormatLite::MakeTag(CodeGeneratorRequest::kProtoFileFieldNumber,
                              WireFormatLite::WIRETYPE_LENGTH_DELIMITED),
      head);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(size), end);
  part.reserve(static_cast<size_t>(end - head) + size);
  part.assign(head, end);
  proto->AppendToString(&part);
  return part;
}

// Adds `file` after all its imports. The loader limits the depth of this recursion.
void AddWithImports(const FileDescriptor *file, std::set<const FileDescriptor *> *added,
                    std::vector<const FileDescriptor *> *files) {
  if (!added->insert(file).second) return;
  for (int i = 0; i < file->dependency_count(); ++i) AddWithImports(file->dependency(i), added, files);
  files->push_back(file);
}

// The names of the files to generate, in the given order and without duplicates.
std::vector<std::string> NamesOf(const cprotoc_input &input, const SourceRoots &roots,
                                 Diagnostics *diagnostics) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (size_t i = 0; i < input.file_count; ++i) {
    std::string error;
    const auto name = roots.NameOf(input.files[i], &error);
    if (!name) {
      diagnostics->AddError(input.files[i], {}, error);
    } else if (known.insert(*name).second) {
      diagnostics->ShowAs(*name, roots.PathOf(*name, input.files[i]));
      names.push_back(*name);
    }
  }
  return names;
}

// The request; empty if there are errors in the diagnostics.
Parts Compile(const cprotoc_input &input, Diagnostics *diagnostics) {
  // The diagnostics contain everything that libprotobuf would print.
  google::protobuf::LogSilencer silencer;
  const auto *first = input.include_directories;
  const SourceRoots roots(std::vector<std::string>(first, first + input.include_directory_count));
  const std::vector<std::string> names = NamesOf(input, roots, diagnostics);
  const size_t workers = WorkerCount(input.worker_count);
  ParseAhead parser(roots, input.comments_only ? SourceInfo::kComments : SourceInfo::kAll, names, workers - 1);
  Loader loader(&parser, diagnostics);
  std::set<const FileDescriptor *> added;
  std::vector<const FileDescriptor *> files;
  for (const std::string &name : names) loader.WarnOfUnusedImports(name);
  for (const std::string &name : names) {
    const FileDescriptor *file = loader.Load(name);
    if (file != nullptr) AddWithImports(file, &added, &files);
  }
  if (!diagnostics->errors().empty()) return {};
  Parts parts(files.size() + 1);
  parts[0] = HeadOf(names, input.parameter);
  ForEach(files.size(), workers, [&](size_t i) { parts[i + 1] = PartOf(files[i]); });
  size_t size = 0;
  bool has_all = true;
  for (const std::string &part : parts) {
    size += part.size();
    has_all = has_all && !part.empty();
  }
  if (has_all && size <= INT_MAX) return parts;
  diagnostics->AddError("switchboard", {}, "The files are too large to be described in one request.");
  return {};
}

// Copies `texts` to memory that C can free; null if there are none or memory ran out.
char **CopyTexts(const std::vector<std::string> &texts, size_t *count) {
  *count = 0;
  if (texts.empty()) return nullptr;
  char **copies = static_cast<char **>(::calloc(texts.size(), sizeof(char *)));
  if (copies == nullptr) return nullptr;
  for (const std::string &text : texts) {
    char *copy = ::strdup(text.c_str());
    if (copy == nullptr) break;
    copies[(*count)++] = copy;
  }
  return copies;
}

void FreeTexts(char **texts, size_t count) {
  for (size_t i = 0; i < count; ++i) ::free(texts[i]);
  ::free(texts);
}

void Publish(const Diagnostics &diagnostics, Parts parts, cprotoc_result *result) {
  result->errors = CopyTexts(diagnostics.errors(), &result->error_count);
  result->warnings = CopyTexts(diagnostics.warnings(), &result->warning_count);
  if (!diagnostics.errors().empty()) return;
  size_t size = 0;
  for (const std::string &part : parts) size += part.size();
  result->request = static_cast<uint8_t *>(::malloc(size));
  if (result->request == nullptr) return;
  for (std::string &part : parts) {
    ::memcpy(result->request + result->request_size, part.data(), part.size());
    result->request_size += part.size();
    // Not kept until the end, so that there are never two whole requests.
    std::string().swap(part);
  }
}

}  // namespace
}  // namespace switchboard

extern "C" void cprotoc_compile(const cprotoc_input *input, cprotoc_result *result) {
  *result = cprotoc_result{};
  try {
    switchboard::Diagnostics diagnostics;
    switchboard::Parts parts;
    try {
      parts = switchboard::Compile(*input, &diagnostics);
    } catch (const std::exception &failure) {
      diagnostics.AddError("switchboard", {}, std::string("The .proto compiler failed: ") + failure.what());
    }
    switchboard::Publish(diagnostics, std::move(parts), result);
  } catch (...) {
    // No memory for the report itself: the result has neither a request nor an error.
    cprotoc_result_free(result);
  }
}

extern "C" void cprotoc_result_free(cprotoc_result *result) {
  switchboard::FreeTexts(result->errors, result->error_count);
  switchboard::FreeTexts(result->warnings, result->warning_count);
  ::free(result->request);
  *result = cprotoc_result{};
}
