#include "SourceScan.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>

namespace switchboard {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::Tokenizer;

// libprotobuf itself rejects messages nested more than 32 levels deep.
constexpr int kDeepestNesting = 100;
constexpr int kMostNameParts = 1000;

// Discards tokenizer errors; the parser reports them later.
class Ignore : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string &) override {}
};

// Longer than the name of any edition.
constexpr size_t kLongestEdition = 40;

// The error message for a file with an edition; `tokenizer` is at the start of the statement.
std::string EditionMessage(Tokenizer *tokenizer) {
  const bool has_name = tokenizer->Next() && tokenizer->current().text == "=" && tokenizer->Next() &&
                        tokenizer->current().type == Tokenizer::TYPE_STRING;
  const std::string text = has_name ? tokenizer->current().text : "";
  const std::string name = text.size() > 2 ? text.substr(1, text.size() - 2) : "";
  if (!name.empty() && name != "2023" && name != "2024") {
    const std::string shown = name.size() > kLongestEdition ? "of this name" : name;
    return "edition " + shown + " is not supported: use edition 2023 or 2024";
  }
  const int version = GOOGLE_PROTOBUF_VERSION;
  return "This tool was built with libprotoc " + std::to_string(version / 1000 % 1000) + "." +
         std::to_string(version % 1000) + ", which does not support editions. Use protoc " +
         (name == "2024" ? "32" : "27") +
         " or later with the plugin protoc-gen-switchboard, or let protoc or buf compile the file and pass the result "
         "to this tool with --descriptor-set FILE.";
}

// Limits nesting and the length of names, token by token.
class Limits {
 public:
  // The error message if `token` exceeds a limit; otherwise empty.
  std::string Visit(const std::string &token) {
    if (token.size() != 1) return "";
    switch (token[0]) {
      case '{': ++braces_; chain_ = 0; break;
      case '<': ++angles_; break;
      case '}': braces_ = std::max(0, braces_ - 1); chain_ = 0; break;
      case '>': angles_ = std::max(0, angles_ - 1); break;
      case '.': ++chain_; break;
      case ';': case '=': case ',': case '[': chain_ = 0; break;
      default: break;
    }
    if (braces_ > kDeepestNesting || angles_ > kDeepestNesting) {
      return "Nested more than " + std::to_string(kDeepestNesting) + " levels deep.";
    }
    if (chain_ > kMostNameParts) {
      return "A name of more than " + std::to_string(kMostNameParts) + " parts.";
    }
    return "";
  }

 private:
  int braces_ = 0;
  int angles_ = 0;
  int chain_ = 0;
};

}  // namespace

std::optional<ScanError> ScanSource(const std::string &source) {
  ArrayInputStream stream(source.data(), static_cast<int>(source.size()));
  Ignore ignore;
  Tokenizer tokenizer(&stream, &ignore);
  Limits limits;
  bool is_first = true;
  while (tokenizer.Next()) {
    const Tokenizer::Token &token = tokenizer.current();
    const Place place{token.line, token.column};
    std::string message = limits.Visit(token.text);
    if (is_first && token.text == "edition") message = EditionMessage(&tokenizer);
    if (!message.empty()) return ScanError{place, message};
    is_first = false;
  }
  return std::nullopt;
}

}  // namespace switchboard
