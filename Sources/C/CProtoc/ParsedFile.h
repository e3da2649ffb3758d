// One .proto file, read and parsed on its own.

#ifndef SWITCHBOARD_PARSED_FILE_H
#define SWITCHBOARD_PARSED_FILE_H

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "Diagnostics.h"
#include "SourceRoots.h"

namespace switchboard {

// Which positions of declarations a parsed file keeps: seven of eight belong to no comment.
enum class SourceInfo { kAll, kComments };

// Nothing here depends on any other file, so that files can be parsed on different threads. The diagnostics are kept
// until Report(), which puts them where they would be if all files were parsed one after the other.
class ParsedFile {
 public:
  // Reads and parses the file `name`.
  ParsedFile(const SourceRoots &roots, const std::string &name, SourceInfo info);

  const std::string &name() const { return name_; }
  const std::string &source() const { return source_; }
  // What was parsed; incomplete unless is_parsed().
  const google::protobuf::FileDescriptorProto &proto() const { return *proto_; }
  bool is_parsed() const { return is_parsed_; }
  // The place of the statement that imports `name`, of the last one if there are several.
  Place PlaceOfImport(const std::string &name) const;

  // Adds what is wrong with the file to `diagnostics`.
  void Report(Diagnostics *diagnostics) const;

 private:
  class Errors;
  struct Finding {
    bool is_error;
    Place place;
    std::string message;
  };

  bool Parse(const SourceRoots &roots);
  void NoteImports();
  void Add(bool is_error, Place place, const std::string &message);

  std::string name_;
  std::string path_;
  std::string source_;
  std::vector<Finding> findings_;
  std::unordered_map<std::string, Place> import_places_;
  // All of a file's messages go at once, which is much faster than one by one.
  google::protobuf::Arena arena_;
  google::protobuf::FileDescriptorProto *proto_;
  bool is_parsed_ = false;
};

}  // namespace switchboard

#endif
