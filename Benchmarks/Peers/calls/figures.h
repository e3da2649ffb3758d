// Latencies, counted in buckets so that a long run needs no more memory than a short one.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Each power of two has 64 buckets, so a result is off by less than 2%.
class Latencies {
 public:
  void Add(Clock::duration latency) {
    auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(latency).count();
    ++buckets_[Bucket(nanoseconds < 0 ? 0 : static_cast<uint64_t>(nanoseconds))];
    ++count_;
  }

  void Add(const Latencies &other) {
    for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
  }

  uint64_t count() const { return count_; }

  // In microseconds.
  double Percentile(double share) const {
    uint64_t rank = static_cast<uint64_t>(share * static_cast<double>(count_));
    uint64_t seen = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen > rank) return static_cast<double>(Middle(i)) / 1000;
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 6;

  static size_t Bucket(uint64_t value) {
    if (value < (1u << kBits)) return value;
    unsigned shift = 63 - static_cast<unsigned>(__builtin_clzll(value)) - kBits;
    size_t bucket = (static_cast<size_t>(shift + 1) << kBits) + ((value >> shift) - (1u << kBits));
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }

  static uint64_t Middle(size_t bucket) {
    if (bucket < (1u << kBits)) return bucket;
    size_t shift = (bucket >> kBits) - 1;
    uint64_t low = ((bucket & ((1u << kBits) - 1)) + (1u << kBits)) << shift;
    return low + (uint64_t{1} << shift) / 2;
  }

  // Up to a minute.
  static constexpr size_t kBuckets = 32 << kBits;
  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
};
