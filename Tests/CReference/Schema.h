// The definition of the C type reference_schema.

#ifndef SWITCHBOARD_REFERENCE_SCHEMA_H
#define SWITCHBOARD_REFERENCE_SCHEMA_H

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <memory>
#include <string>

struct reference_schema {
  reference_schema() : factory(&pool) {}

  // Links `file`, whose imports must be linked. Returns an error message; empty on success.
  std::string Add(const google::protobuf::FileDescriptorProto &file);

  // A new message of the type `name`; null if there is no such type.
  std::unique_ptr<google::protobuf::Message> NewMessage(const std::string &name) const;

 private:
  google::protobuf::DescriptorPool pool;
  // Its cache of prototypes has its own lock.
  mutable google::protobuf::DynamicMessageFactory factory;
};

#endif
