#include "Formats.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

namespace switchboard {
namespace {

using google::protobuf::Message;
using google::protobuf::TextFormat;

class Collect : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string &message) override {
    errors += std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": " + message + "\n";
  }

  std::string errors;
};

std::string ReadText(const std::string &bytes, Message *message) {
  Collect collect;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&collect);
  parser.AllowPartialMessage(true);
  return parser.ParseFromString(bytes, message) ? "" : "text: " + collect.errors;
}

std::string ReadJSON(const std::string &bytes, const reference_options &options, Message *message) {
  google::protobuf::util::JsonParseOptions json;
  json.ignore_unknown_fields = options.ignore_unknown_fields;
  const auto status = google::protobuf::util::JsonStringToMessage(bytes, message, json);
  return status.ok() ? "" : "JSON: " + status.ToString();
}

std::string WriteBinary(const Message &message, std::string *bytes) {
  google::protobuf::io::StringOutputStream stream(bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  return message.SerializePartialToCodedStream(&coded) ? "" : "binary: not encodable";
}

std::string WriteJSON(const Message &message, const reference_options &options, std::string *bytes) {
  google::protobuf::util::JsonPrintOptions json;
  json.always_print_primitive_fields = options.print_default_values;
  json.preserve_proto_field_names = options.preserve_field_names;
  json.always_print_enums_as_ints = options.enums_as_integers;
  const auto status = google::protobuf::util::MessageToJsonString(message, bytes, json);
  return status.ok() ? "" : "JSON: " + status.ToString();
}

std::string WriteText(const Message &message, const reference_options &options, std::string *bytes) {
  TextFormat::Printer printer;
  printer.SetSingleLineMode(options.single_line);
  return printer.PrintToString(message, bytes) ? "" : "text: not printable";
}

}  // namespace

std::string Read(reference_format format, const std::string &bytes, const reference_options &options,
                 Message *message) {
  switch (format) {
    case REFERENCE_BINARY:
      return message->ParsePartialFromString(bytes) ? "" : "binary: malformed";
    case REFERENCE_JSON:
      return ReadJSON(bytes, options, message);
    case REFERENCE_TEXT:
      return ReadText(bytes, message);
  }
  return "no such format";
}

std::string Write(reference_format format, const Message &message, const reference_options &options,
                  std::string *bytes) {
  switch (format) {
    case REFERENCE_BINARY:
      return WriteBinary(message, bytes);
    case REFERENCE_JSON:
      return WriteJSON(message, options, bytes);
    case REFERENCE_TEXT:
      return WriteText(message, options, bytes);
  }
  return "no such format";
}

}  // namespace switchboard
