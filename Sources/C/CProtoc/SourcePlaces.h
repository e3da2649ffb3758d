// The positions of a file's declarations, for diagnostics.

#ifndef SWITCHBOARD_SOURCE_PLACES_H
#define SWITCHBOARD_SOURCE_PLACES_H

#include <google/protobuf/arena.h>
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <unordered_map>

#include "Diagnostics.h"
#include "ParsedFile.h"

namespace switchboard {

// libprotoc's parser notes all positions in a table, which takes as long as parsing and is needed only for the files
// that have something wrong with them: so this class parses such a file again, with the table.
class SourcePlaces {
 public:
  explicit SourcePlaces(const ParsedFile &file);

  // The place of `descriptor`, a part of the file's descriptor.
  Place Find(const google::protobuf::Message *descriptor,
             google::protobuf::DescriptorPool::ErrorCollector::ErrorLocation location) const;

 private:
  // Notes `twin` as the counterpart of `part`, and so on for what is in them.
  void Pair(const google::protobuf::Message &part, const google::protobuf::Message &twin);

  google::protobuf::Arena arena_;
  google::protobuf::FileDescriptorProto *again_;
  google::protobuf::compiler::SourceLocationTable table_;
  // The messages in `again_` by their counterparts in the file's descriptor.
  std::unordered_map<const google::protobuf::Message *, const google::protobuf::Message *> twins_;
};

}  // namespace switchboard

#endif
