#include "CProtoc.h"

#include <google/protobuf/compiler/plugin.pb.h>
#include <google/protobuf/stubs/logging.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "Diagnostics.h"
#include "Loader.h"
#include "SourceRoots.h"

namespace switchboard {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::compiler::CodeGeneratorRequest;

void SetCompilerVersion(CodeGeneratorRequest *request) {
  auto *version = request->mutable_compiler_version();
  version->set_major(GOOGLE_PROTOBUF_VERSION / 1000000);
  version->set_minor(GOOGLE_PROTOBUF_VERSION / 1000 % 1000);
  version->set_patch(GOOGLE_PROTOBUF_VERSION % 1000);
  version->set_suffix("");
}

void AddFile(const FileDescriptor *file, CodeGeneratorRequest *request) {
  auto *proto = request->add_proto_file();
  file->CopyTo(proto);
  file->CopyJsonNameTo(proto);
  file->CopySourceCodeInfoTo(proto);
}

// Adds `file` after all its imports. The loader limits the depth of this recursion.
void AddWithImports(const FileDescriptor *file, std::set<const FileDescriptor *> *added,
                    CodeGeneratorRequest *request) {
  if (!added->insert(file).second) return;
  for (int i = 0; i < file->dependency_count(); ++i) AddWithImports(file->dependency(i), added, request);
  AddFile(file, request);
}

// The names of the files to generate, in the given order and without duplicates.
std::vector<std::string> NamesOf(const cprotoc_input &input, const SourceRoots &roots,
                                 Diagnostics *diagnostics) {
  std::vector<std::string> names;
  for (size_t i = 0; i < input.file_count; ++i) {
    std::string error;
    const auto name = roots.NameOf(input.files[i], &error);
    if (!name) {
      diagnostics->AddError(input.files[i], {}, error);
    } else if (std::find(names.begin(), names.end(), *name) == names.end()) {
      diagnostics->ShowAs(*name, roots.PathOf(*name, input.files[i]));
      names.push_back(*name);
    }
  }
  return names;
}

// The serialized request; empty if there are errors in the diagnostics.
std::string Compile(const cprotoc_input &input, Diagnostics *diagnostics) {
  // The diagnostics contain everything that libprotobuf would print.
  google::protobuf::LogSilencer silencer;
  const auto *first = input.include_directories;
  const SourceRoots roots(std::vector<std::string>(first, first + input.include_directory_count));
  Loader loader(roots, diagnostics);
  CodeGeneratorRequest request;
  std::set<const FileDescriptor *> added;
  const std::vector<std::string> names = NamesOf(input, roots, diagnostics);
  for (const std::string &name : names) loader.WarnOfUnusedImports(name);
  for (const std::string &name : names) {
    request.add_file_to_generate(name);
    const FileDescriptor *file = loader.Load(name);
    if (file != nullptr) AddWithImports(file, &added, &request);
  }
  if (input.parameter != nullptr) request.set_parameter(input.parameter);
  SetCompilerVersion(&request);
  std::string bytes;
  if (diagnostics->errors().empty() && !request.SerializeToString(&bytes)) {
    diagnostics->AddError("switchboard", {}, "The files are too large to be described in one request.");
    bytes.clear();
  }
  return bytes;
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

void Publish(const Diagnostics &diagnostics, const std::string &bytes, cprotoc_result *result) {
  result->errors = CopyTexts(diagnostics.errors(), &result->error_count);
  result->warnings = CopyTexts(diagnostics.warnings(), &result->warning_count);
  if (!diagnostics.errors().empty()) return;
  result->request = static_cast<uint8_t *>(::malloc(bytes.size()));
  if (result->request == nullptr) return;
  ::memcpy(result->request, bytes.data(), bytes.size());
  result->request_size = bytes.size();
}

}  // namespace
}  // namespace switchboard

extern "C" void cprotoc_compile(const cprotoc_input *input, cprotoc_result *result) {
  *result = cprotoc_result{};
  try {
    switchboard::Diagnostics diagnostics;
    std::string bytes;
    try {
      bytes = switchboard::Compile(*input, &diagnostics);
    } catch (const std::exception &failure) {
      diagnostics.AddError("switchboard", {}, std::string("The .proto compiler failed: ") + failure.what());
    }
    switchboard::Publish(diagnostics, bytes, result);
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
