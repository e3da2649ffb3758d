#include "Workers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>

namespace switchboard {
namespace {

// More would wait for memory and for the one thread that links.
constexpr size_t kMostWorkers = 16;

}  // namespace

size_t WorkerCount(size_t wanted) {
  const size_t count = wanted == 0 ? std::thread::hardware_concurrency() : wanted;
  return std::min(std::max<size_t>(count, 1), kMostWorkers);
}

std::vector<std::thread> StartThreads(size_t count, const std::function<void()> &work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    while (threads.size() < count) threads.emplace_back(work);
  } catch (const std::system_error &) {
    // The others do it all.
  }
  return threads;
}

void ForEach(size_t count, size_t workers, const std::function<void(size_t)> &work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> threads = StartThreads(std::min(workers, count) - (count > 0), run);
  run();
  for (std::thread &thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace switchboard
