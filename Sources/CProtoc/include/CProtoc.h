// The .proto compiler of libprotoc behind one C function: paths in, one serialized message out.
// Nothing of C++ shows here, and no C++ exception leaves these functions.

#ifndef CPROTOC_H
#define CPROTOC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What to compile. Every string is a path or a text in UTF-8 that ends in NUL.
typedef struct cprotoc_input {
  // The roots that imports are looked up in, first match first.
  const char *const *include_directories;
  size_t include_directory_count;
  // The files to compile: paths on disk that lie under a root, or names relative to a root.
  const char *const *files;
  size_t file_count;
  // The request's `parameter`; NULL leaves it unset.
  const char *parameter;
} cprotoc_input;

// What came of it. The diagnostics read `path:line:column: error: message`, counted from 1, or
// `path: error: message` where they concern a file as a whole, and those of a warning have `warning: ` there.
// The path is the one that the file was given by, or found at.
typedef struct cprotoc_result {
  // A serialized google.protobuf.compiler.CodeGeneratorRequest; NULL where there are errors.
  uint8_t *request;
  size_t request_size;
  char **errors;
  size_t error_count;
  char **warnings;
  size_t warning_count;
} cprotoc_result;

// Compiles `input` and fills `result`, which cprotoc_result_free() must release afterwards.
// Neither a request nor an error in it means that memory ran out. Any thread may call it, and
// several may at once.
void cprotoc_compile(const cprotoc_input *input, cprotoc_result *result);

// Releases what `result` owns and empties it.
void cprotoc_result_free(cprotoc_result *result);

#ifdef __cplusplus
}
#endif

#endif
