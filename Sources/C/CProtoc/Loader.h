// Takes files and everything they import, and links them.

#ifndef SWITCHBOARD_LOADER_H
#define SWITCHBOARD_LOADER_H

#include <google/protobuf/descriptor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "Diagnostics.h"
#include "ParseAhead.h"
#include "ParsedFile.h"
#include "SourcePlaces.h"

namespace switchboard {

// libprotoc's Importer recurses for every import, so that a long chain would overflow the stack. This class uses a
// loop, so it can also report where an import cycle closes.
class Loader {
 public:
  Loader(ParseAhead *parser, Diagnostics *diagnostics);
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
    std::unique_ptr<ParsedFile> parsed;
    int next_import = 0;
    bool is_broken = false;
    // Made for the first error.
    std::unique_ptr<SourcePlaces> places;

    const google::protobuf::FileDescriptorProto &proto() const { return parsed->proto(); }
    const SourcePlaces &Places();
  };

  // Starts on a file: takes it and leaves it on the stack, or marks it failed.
  void Open(const std::string &name);
  // Takes the next step on the topmost file: opens an import or links the file.
  void Advance();
  void Link(Pending &file);
  void ReportImport(Pending &file, const std::string &import, const std::string &message);
  std::string CycleTo(const std::string &name) const;

  ParseAhead *parser_;
  Diagnostics *diagnostics_;
  google::protobuf::DescriptorPool pool_;
  std::map<std::string, State> states_;
  std::vector<std::unique_ptr<Pending>> stack_;
};

}  // namespace switchboard

#endif
