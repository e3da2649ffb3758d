// libprotobuf as the reference that tests compare with: messages of any schema, converted between
// the binary, JSON and text formats.

#ifndef CREFERENCE_H
#define CREFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum reference_format {
  REFERENCE_BINARY = 0,
  REFERENCE_JSON = 1,
  REFERENCE_TEXT = 2,
} reference_format;

typedef struct reference_options {
  // JSON input: skip fields that the schema does not know.
  bool ignore_unknown_fields;
  // JSON output: print fields without presence that have their default value.
  bool print_default_values;
  // JSON output: field names as in the .proto.
  bool preserve_field_names;
  // JSON output: enum values as numbers.
  bool enums_as_integers;
  // Text output: on one line.
  bool single_line;
} reference_options;

// The output bytes or, if `error` is set, the reason why there are none. Release it with reference_result_free().
typedef struct reference_result {
  uint8_t *data;
  size_t size;
  char *error;
  // Whether every required field of the message is set; the input may omit some.
  bool is_initialized;
} reference_result;

// Linked files and their message types. Immutable and thread-safe.
typedef struct reference_schema reference_schema;

// Links the files of a serialized google.protobuf.FileDescriptorSet, each after its imports. On failure returns NULL
// and sets `error` in `result`. Release `result` in any case.
reference_schema *reference_schema_from_set(const uint8_t *data, size_t size, reference_result *result);

// The same for the files in a serialized google.protobuf.compiler.CodeGeneratorRequest.
reference_schema *reference_schema_from_request(const uint8_t *data, size_t size,
                                                reference_result *result);

void reference_schema_free(reference_schema *schema);

// Parses `data` as a message of the type `type` in the format `from`, and serializes it in the format `to`; binary
// output is deterministic.
void reference_convert(const reference_schema *schema, const char *type, reference_format from,
                       const uint8_t *data, size_t size, reference_format to,
                       const reference_options *options, reference_result *result);

void reference_result_free(reference_result *result);

#ifdef __cplusplus
}
#endif

#endif
