#include "SettleMaps.h"

#include <google/protobuf/map_field.h>

#include <vector>

// libprotobuf's friend class for access to maps by reflection.
namespace google {
namespace protobuf {
namespace expr {

class CelMapReflectionFriend {
 public:
  static void AskFor(Message *message, const FieldDescriptor *field) {
    message->GetReflection()->MapBegin(message, field);
  }
};

}  // namespace expr
}  // namespace protobuf
}  // namespace google

namespace switchboard {

void SettleMaps(google::protobuf::Message *message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection *reflection = message->GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor *field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      SettleMaps(reflection->MutableMessage(message, field));
      continue;
    }
    for (int index = 0; index < reflection->FieldSize(*message, field); ++index) {
      SettleMaps(reflection->MutableRepeatedMessage(message, field, index));
    }
    if (field->is_map()) google::protobuf::expr::CelMapReflectionFriend::AskFor(message, field);
  }
}

}  // namespace switchboard
