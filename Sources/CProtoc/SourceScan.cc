#include "SourceScan.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>

namespace switchboard {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::Tokenizer;

// libprotobuf itself refuses messages nested in more than 32 others.
constexpr int kDeepestNesting = 100;
constexpr int kMostNameParts = 1000;

// The parser reports what the tokenizer finds; here it is of no interest.
class Ignore : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string &) override {}
};

// No edition's name comes near this.
constexpr size_t kLongestEdition = 40;

// What to do about a file of an edition, whose statement `tokenizer` has just begun.
std::string EditionMessage(Tokenizer *tokenizer) {
  const bool has_name = tokenizer->Next() && tokenizer->current().text == "=" && tokenizer->Next() &&
                        tokenizer->current().type == Tokenizer::TYPE_STRING;
  const std::string text = has_name ? tokenizer->current().text : "";
  const std::string name = text.size() > 2 ? text.substr(1, text.size() - 2) : "";
  if (!name.empty() && name != "2023" && name != "2024") {
    const std::string shown = name.size() > kLongestEdition ? "of this name" : name;
    return "edition " + shown + " is not supported: the editions are 2023 and 2024";
  }
  const int version = GOOGLE_PROTOBUF_VERSION;
  return "This tool was built with libprotoc " + std::to_string(version / 1000 % 1000) + "." +
         std::to_string(version % 1000) + ", which knows no editions. Use protoc " +
         (name == "2024" ? "32" : "27") +
         " or later with the plugin protoc-gen-switchboard, or have it, or buf, compile the file and hand the result "
         "to this tool with --descriptor-set FILE.";
}

// Counts what nests and what chains, token by token.
class Limits {
 public:
  // What `token` breaks; empty where nothing.
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
