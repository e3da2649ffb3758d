#include "Schema.h"

namespace {

class Collect : public google::protobuf::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string &file, const std::string &element, const google::protobuf::Message *,
                ErrorLocation, const std::string &message) override {
    errors += file + ": " + element + ": " + message + "\n";
  }

  std::string errors;
};

}  // namespace

std::string reference_schema::Add(const google::protobuf::FileDescriptorProto &file) {
  Collect collect;
  const bool is_linked = pool.BuildFileCollectingErrors(file, &collect) != nullptr;
  return is_linked ? "" : file.name() + " does not link\n" + collect.errors;
}

std::unique_ptr<google::protobuf::Message> reference_schema::NewMessage(const std::string &name) const {
  const auto *descriptor = pool.FindMessageTypeByName(name);
  if (descriptor == nullptr) return nullptr;
  return std::unique_ptr<google::protobuf::Message>(factory.GetPrototype(descriptor)->New());
}
