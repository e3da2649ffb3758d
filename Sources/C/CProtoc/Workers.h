// Work on several threads.

#ifndef SWITCHBOARD_WORKERS_H
#define SWITCHBOARD_WORKERS_H

#include <stddef.h>

#include <functional>
#include <thread>
#include <vector>

namespace switchboard {

// The number of threads to use if `wanted` are wanted; 0 means one a processor. It is at least one.
size_t WorkerCount(size_t wanted);

// Starts `count` threads that run `work`, which throws nothing; fewer if the system gives no more.
std::vector<std::thread> StartThreads(size_t count, const std::function<void()> &work);

// Calls `work` for every number below `count` on `workers` threads, of which the caller's is one. Throws what a call
// throws, after all calls that were made have ended.
void ForEach(size_t count, size_t workers, const std::function<void(size_t)> &work);

}  // namespace switchboard

#endif
