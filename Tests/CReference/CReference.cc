#include "CReference.h"

#include <google/protobuf/compiler/plugin.pb.h>
#include <google/protobuf/stubs/logging.h>
#include <stdlib.h>
#include <string.h>

#include <exception>

#include "Formats.h"
#include "Schema.h"
#include "SettleMaps.h"

namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::RepeatedPtrField;

void Fail(const std::string &message, reference_result *result) { result->error = ::strdup(message.c_str()); }

void Succeed(const std::string &bytes, reference_result *result) {
  // At least one byte, because malloc(0) may return null.
  result->data = static_cast<uint8_t *>(::malloc(bytes.size() + 1));
  if (result->data == nullptr) return Fail("out of memory", result);
  ::memcpy(result->data, bytes.data(), bytes.size());
  result->size = bytes.size();
}

// Runs `body` and converts exceptions to an error.
template <typename Body>
void Guard(reference_result *result, Body body) {
  google::protobuf::LogSilencer silencer;
  *result = reference_result{};
  try {
    body();
  } catch (const std::exception &failure) {
    Fail(failure.what(), result);
  } catch (...) {
    Fail("an unknown exception", result);
  }
}

template <typename Container>
reference_schema *NewSchema(const uint8_t *data, size_t size,
                            const RepeatedPtrField<FileDescriptorProto> &(Container::*files)() const,
                            reference_result *result) {
  std::unique_ptr<reference_schema> schema;
  Guard(result, [&] {
    Container container;
    if (!container.ParseFromArray(data, static_cast<int>(size))) return Fail("malformed descriptors", result);
    auto linked = std::make_unique<reference_schema>();
    for (const FileDescriptorProto &file : (container.*files)()) {
      const std::string error = linked->Add(file);
      if (!error.empty()) return Fail(error, result);
    }
    schema = std::move(linked);
  });
  return schema.release();
}

}  // namespace

extern "C" reference_schema *reference_schema_from_set(const uint8_t *data, size_t size,
                                                       reference_result *result) {
  using Set = google::protobuf::FileDescriptorSet;
  return NewSchema<Set>(data, size, &Set::file, result);
}

extern "C" reference_schema *reference_schema_from_request(const uint8_t *data, size_t size,
                                                           reference_result *result) {
  using Request = google::protobuf::compiler::CodeGeneratorRequest;
  return NewSchema<Request>(data, size, &Request::proto_file, result);
}

extern "C" void reference_schema_free(reference_schema *schema) { delete schema; }

extern "C" void reference_convert(const reference_schema *schema, const char *type, reference_format from,
                                  const uint8_t *data, size_t size, reference_format to,
                                  const reference_options *options, reference_result *result) {
  Guard(result, [&] {
    const auto message = schema->NewMessage(type);
    if (message == nullptr) return Fail("no message type called " + std::string(type), result);
    const std::string input(reinterpret_cast<const char *>(data), size);
    std::string output;
    std::string error = switchboard::Read(from, input, *options, message.get());
    if (to == REFERENCE_BINARY) switchboard::SettleMaps(message.get());
    if (error.empty()) error = switchboard::Write(to, *message, *options, &output);
    if (!error.empty()) return Fail(error, result);
    result->is_initialized = message->IsInitialized();
    Succeed(output, result);
  });
}

extern "C" void reference_result_free(reference_result *result) {
  ::free(result->data);
  ::free(result->error);
  *result = reference_result{};
}
