// Parses files and everything they import, and links them.

#ifndef SWITCHBOARD_LOADER_H
#define SWITCHBOARD_LOADER_H

#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "Diagnostics.h"
#include "SourceRoots.h"

namespace switchboard {

// libprotoc's Importer recurses for every import, so that a long chain would overflow the stack. This class uses a
// loop, so it can also report where an import cycle closes.
class Loader {
 public:
  Loader(const SourceRoots &roots, Diagnostics *diagnostics);
  ~Loader();

  // Loads the file called `name` and its imports. Null where that failed; the diagnostics then say why.
  const google::protobuf::FileDescriptor *Load(const std::string &name);

  // Reports imports of `name` that nothing in it uses. Call it before Load().
  void WarnOfUnusedImports(const std::string &name) { pool_.AddUnusedImportTrackFile(name); }

 private:
  class LinkErrors;
  enum class State { kImporting, kLinked, kFailed };

  // A file between having been parsed and having been linked.
  struct Pending {
    google::protobuf::FileDescriptorProto proto;
    int next_import = 0;
    bool is_broken = false;
  };

  // Starts on a file: parses it and leaves it on the stack, or marks it failed.
  void Open(const std::string &name);
  // Takes the next step on the topmost file: opens an import or links the file.
  void Advance();
  void Link(Pending &file);
  bool Parse(const std::string &name, google::protobuf::FileDescriptorProto *proto);
  void ReportImport(Pending &file, const std::string &import, const std::string &message);
  std::string CycleTo(const std::string &name) const;

  const SourceRoots &roots_;
  Diagnostics *diagnostics_;
  google::protobuf::DescriptorPool pool_;
  google::protobuf::compiler::SourceLocationTable locations_;
  std::unique_ptr<LinkErrors> link_errors_;
  std::map<std::string, State> states_;
  std::vector<std::unique_ptr<Pending>> stack_;
};

}  // namespace switchboard

#endif
