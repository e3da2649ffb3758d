// Files that are parsed on other threads before they are needed.

#ifndef SWITCHBOARD_PARSE_AHEAD_H
#define SWITCHBOARD_PARSE_AHEAD_H

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "ParsedFile.h"
#include "SourceRoots.h"

namespace switchboard {

// Linking takes one file after the other, each after its imports; parsing needs no order. What is parsed does not
// depend on the number of threads, nor does the order in which Take() is called.
class ParseAhead {
 public:
  // Starts on the files called `names`, with up to `threads` threads besides the caller's.
  ParseAhead(const SourceRoots &roots, SourceInfo info, const std::vector<std::string> &names, size_t threads);
  ~ParseAhead();
  ParseAhead(const ParseAhead &) = delete;
  ParseAhead &operator=(const ParseAhead &) = delete;

  // The file `name`, which can be taken once. Parses it here unless another thread has done so or is about to finish.
  std::unique_ptr<ParsedFile> Take(const std::string &name);

 private:
  enum class State { kWanted, kBeingParsed, kParsed, kTaken };
  struct Entry {
    State state = State::kWanted;
    // Null in the state kParsed if memory ran out.
    std::unique_ptr<ParsedFile> file;
  };

  void Work();
  // Removes the name of the next file to parse from the list, and returns its entry; null at the end.
  std::pair<const std::string, Entry> *Next(std::unique_lock<std::mutex> *lock);
  // Puts the imports of `file` first, because the loader needs them next.
  void WantImports(const ParsedFile &file);

  const SourceRoots &roots_;
  const SourceInfo info_;
  const bool has_threads_;
  std::mutex mutex_;
  // The mutex guards everything below, except the threads.
  std::condition_variable has_room_;
  std::condition_variable has_parsed_;
  // Entries stay where they are until the end.
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> wanted_;
  // What is parsed and not yet taken, in bytes of source.
  size_t ahead_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace switchboard

#endif
