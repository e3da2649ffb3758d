// RE2, a matcher of regular expressions in linear time, behind a few C functions. The header contains no C++, and no C++
// exception escapes these functions.

#ifndef CRE2_H
#define CRE2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A compiled pattern. Any number of threads may match with one at once.
typedef struct cre2_pattern cre2_pattern;

// Compiles a pattern, in UTF-8. `memory` is how many bytes its program and what is kept while it matches may take. Returns NULL
// if that fails, with the reason in `reason`, NUL-terminated and cut to `room` bytes; it is empty if memory ran out. Sets
// `is_too_large` if the program needs more than `memory`, which takes as long to find out as to compile the largest one.
cre2_pattern *cre2_compile(
    const char *pattern, size_t length, int64_t memory, char *reason, size_t room, bool *is_too_large);

// Releases a pattern.
void cre2_free(cre2_pattern *pattern);

// How many steps its program has.
size_t cre2_program_size(const cre2_pattern *pattern);

// Whether all of a text matches. Bytes that are not UTF-8 match no character.
bool cre2_matches(const cre2_pattern *pattern, const char *text, size_t length);

// Whether a text can stand for matches of the pattern: its \0 to \9 name groups that there are. If not, `reason` is set as above.
bool cre2_can_replace(
    const cre2_pattern *pattern, const char *rewrite, size_t length, char *reason, size_t room);

// Replaces every match in a text. Returns the result, which is released by free(), or NULL if memory ran out.
char *cre2_replace(
    const cre2_pattern *pattern, const char *text, size_t length, const char *rewrite, size_t rewrite_length,
    size_t *result_length);

#ifdef __cplusplus
}
#endif

#endif
