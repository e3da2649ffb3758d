#include "CRE2.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

struct cre2_pattern {
  RE2 compiled;

  cre2_pattern(re2::StringPiece text, const RE2::Options &options) : compiled(text, options) {}
};

namespace {

void Tell(const std::string &why, char *reason, size_t room) {
  if (room == 0) return;
  const size_t count = std::min(why.size(), room - 1);
  std::memcpy(reason, why.data(), count);
  reason[count] = '\0';
}

}  // namespace

cre2_pattern *cre2_compile(
    const char *pattern, size_t length, int64_t memory, char *reason, size_t room, bool *is_too_large) {
  Tell("", reason, room);
  *is_too_large = false;
  try {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(memory);
    auto made = std::make_unique<cre2_pattern>(re2::StringPiece(pattern, length), options);
    if (made->compiled.ok()) return made.release();
    *is_too_large = made->compiled.error_code() == RE2::ErrorPatternTooLarge;
    Tell(made->compiled.error(), reason, room);
  } catch (...) {
  }
  return nullptr;
}

void cre2_free(cre2_pattern *pattern) { delete pattern; }

size_t cre2_program_size(const cre2_pattern *pattern) {
  return static_cast<size_t>(std::max(pattern->compiled.ProgramSize(), 0));
}

bool cre2_matches(const cre2_pattern *pattern, const char *text, size_t length) {
  try {
    return RE2::FullMatch(re2::StringPiece(text, length), pattern->compiled);
  } catch (...) {
    return false;
  }
}

bool cre2_can_replace(
    const cre2_pattern *pattern, const char *rewrite, size_t length, char *reason, size_t room) {
  Tell("", reason, room);
  try {
    std::string why;
    if (pattern->compiled.CheckRewriteString(re2::StringPiece(rewrite, length), &why)) return true;
    Tell(why, reason, room);
  } catch (...) {
  }
  return false;
}

char *cre2_replace(
    const cre2_pattern *pattern, const char *text, size_t length, const char *rewrite, size_t rewrite_length,
    size_t *result_length) {
  try {
    std::string whole(text, length);
    RE2::GlobalReplace(&whole, pattern->compiled, re2::StringPiece(rewrite, rewrite_length));
    // Never of zero bytes, which may be NULL.
    auto *result = static_cast<char *>(std::malloc(whole.size() + 1));
    if (result == nullptr) return nullptr;
    std::memcpy(result, whole.data(), whole.size());
    *result_length = whole.size();
    return result;
  } catch (...) {
    return nullptr;
  }
}
