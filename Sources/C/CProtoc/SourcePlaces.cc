#include "SourcePlaces.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <vector>

namespace switchboard {
namespace {

using google::protobuf::Arena;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::Message;

// A file that gets here was parsed before without errors.
class NoErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string &) override {}
};

}  // namespace

SourcePlaces::SourcePlaces(const ParsedFile &file)
    : again_(Arena::CreateMessage<FileDescriptorProto>(&arena_)) {
  const std::string &source = file.source();
  google::protobuf::io::ArrayInputStream stream(source.data(), static_cast<int>(source.size()));
  NoErrors errors;
  google::protobuf::io::Tokenizer tokenizer(&stream, &errors);
  google::protobuf::compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.RecordSourceLocationsTo(&table_);
  again_->set_name(file.name());
  parser.Parse(&tokenizer, again_);
  Pair(file.proto(), *again_);
}

Place SourcePlaces::Find(const Message *descriptor,
                         google::protobuf::DescriptorPool::ErrorCollector::ErrorLocation location) const {
  Place place;
  const auto twin = twins_.find(descriptor);
  if (twin != twins_.end()) table_.Find(twin->second, location, &place.line, &place.column);
  return place;
}

void SourcePlaces::Pair(const Message &part, const Message &twin) {
  twins_.emplace(&part, &twin);
  std::vector<const FieldDescriptor *> fields;
  part.GetReflection()->ListFields(part, &fields);
  for (const FieldDescriptor *field : fields) {
    // Only declarations are asked for, and the locations of the two need not be the same.
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
        field->message_type() == google::protobuf::SourceCodeInfo::descriptor()) {
      continue;
    }
    if (!field->is_repeated()) {
      Pair(part.GetReflection()->GetMessage(part, field), twin.GetReflection()->GetMessage(twin, field));
      continue;
    }
    const int count = std::min(part.GetReflection()->FieldSize(part, field),
                               twin.GetReflection()->FieldSize(twin, field));
    for (int i = 0; i < count; ++i) {
      Pair(part.GetReflection()->GetRepeatedMessage(part, field, i),
           twin.GetReflection()->GetRepeatedMessage(twin, field, i));
    }
  }
}

}  // namespace switchboard
