// libprotoc's .proto compiler behind one C function: it takes paths and returns one serialized message. The header
// contains no C++, and no C++ exception escapes these functions.

#ifndef CPROTOC_H
#define CPROTOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What to compile. All strings are NUL-terminated UTF-8.
typedef struct cprotoc_input {
  // The directories in which imports are looked up; the first match wins.
  const char *const *include_directories;
  size_t include_directory_count;
  // The files to compile: paths on disk below an include directory, or names relative to one.
  const char *const *files;
  size_t file_count;
  // The request's `parameter`; NULL leaves it unset.
  const char *parameter;
  // Whether `source_code_info` has only the locations with a leading or a trailing comment.
  bool comments_only;
  // The number of threads to use at most; 0 means one a processor. The result does not depend on it.
  size_t worker_count;
} cprotoc_input;

// The result. Diagnostics have the form `path:line:column: error: message`, counted from 1, or `path: error: message`
// if they concern the whole file; warnings have `warning: ` instead of `error: `. The path is the one that the file was
// given by, or found at.
typedef struct cprotoc_result {
  // A serialized google.protobuf.compiler.CodeGeneratorRequest; NULL if there are errors.
  uint8_t *request;
  size_t request_size;
  char **errors;
  size_t error_count;
  char **warnings;
  size_t warning_count;
} cprotoc_result;

// Compiles `input` and fills `result`, which the caller must release with cprotoc_result_free(). If it contains neither
// a request nor an error, memory ran out. Thread-safe.
void cprotoc_compile(const cprotoc_input *input, cprotoc_result *result);

// Releases the memory that `result` owns and clears it.
void cprotoc_result_free(cprotoc_result *result);

#ifdef __cplusplus
}
#endif

#endif
