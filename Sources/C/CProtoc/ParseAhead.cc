#include "ParseAhead.h"

#include "Workers.h"

namespace switchboard {
namespace {

// Bounds the memory: descriptors take some ten times as much as their source.
constexpr size_t kMostAhead = 4 << 20;

size_t SizeOf(const ParsedFile &file) { return file.source().size() + 1024; }

}  // namespace

ParseAhead::ParseAhead(const SourceRoots &roots, SourceInfo info, const std::vector<std::string> &names,
                       size_t threads)
    : roots_(roots), info_(info), has_threads_(threads > 0), wanted_(names.begin(), names.end()) {
  for (const std::string &name : names) entries_[name];
  threads_ = StartThreads(threads, [this] { Work(); });
}

ParseAhead::~ParseAhead() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  has_room_.notify_all();
  for (std::thread &thread : threads_) thread.join();
}

std::unique_ptr<ParsedFile> ParseAhead::Take(const std::string &name) {
  std::unique_lock<std::mutex> lock(mutex_);
  Entry &entry = entries_[name];
  has_parsed_.wait(lock, [&] { return entry.state != State::kBeingParsed; });
  entry.state = State::kTaken;
  std::unique_ptr<ParsedFile> file = std::move(entry.file);
  if (file != nullptr) {
    ahead_ -= SizeOf(*file);
    lock.unlock();
  } else {
    lock.unlock();
    file = std::make_unique<ParsedFile>(roots_, name, info_);
    lock.lock();
    WantImports(*file);
    lock.unlock();
  }
  has_room_.notify_all();
  return file;
}

void ParseAhead::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (auto *next = Next(&lock)) {
    Entry &entry = next->second;
    entry.state = State::kBeingParsed;
    lock.unlock();
    std::unique_ptr<ParsedFile> file;
    try {
      file = std::make_unique<ParsedFile>(roots_, next->first, info_);
    } catch (...) {
      // Take() tries again, and reports it.
    }
    lock.lock();
    entry.state = State::kParsed;
    if (file != nullptr) {
      ahead_ += SizeOf(*file);
      WantImports(*file);
      entry.file = std::move(file);
    }
    has_parsed_.notify_all();
    has_room_.notify_all();
  }
}

std::pair<const std::string, ParseAhead::Entry> *ParseAhead::Next(std::unique_lock<std::mutex> *lock) {
  while (true) {
    has_room_.wait(*lock, [this] { return is_ending_ || (ahead_ < kMostAhead && !wanted_.empty()); });
    if (is_ending_) return nullptr;
    const auto entry = entries_.find(wanted_.front());
    wanted_.pop_front();
    if (entry->second.state == State::kWanted) return &*entry;
  }
}

void ParseAhead::WantImports(const ParsedFile &file) {
  if (!has_threads_) return;
  const auto &imports = file.proto().dependency();
  for (auto import = imports.rbegin(); import != imports.rend(); ++import) {
    // An import that is listed further down is now there twice; the second is passed over.
    if (entries_[*import].state == State::kWanted) wanted_.push_front(*import);
  }
}

}  // namespace switchboard
