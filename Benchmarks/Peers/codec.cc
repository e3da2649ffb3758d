// Runs the codec benchmark with libprotobuf, for comparison.
//
// usage: codec ORDER.BIN ROUNDS REPEATS
//
// Prints one line for messages on the heap, one for messages on an arena and one for JSON, each with the median and the
// best of the repeats, in nanoseconds for one message.

#include <google/protobuf/arena.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "codec.pb.h"

namespace {

struct Plan {
  std::string bytes;
  int rounds;
  int repeats;
};

// Keeps the optimizer from removing work whose result is unused.
void Keep(const void *result) { asm volatile("" : : "g"(result) : "memory"); }

// The processor time of this process, in nanoseconds: it excludes time in which other processes ran.
double ProcessorTime() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

double NanosecondsPerRound(int rounds, const std::function<void()> &work) {
  const double start = ProcessorTime();
  for (int round = 0; round < rounds; ++round) work();
  return (ProcessorTime() - start) / rounds;
}

void Report(const char *name, const Plan &plan, const std::function<void()> &decode,
            const std::function<void()> &encode) {
  std::vector<double> decoding, encoding;
  for (int repeat = 0; repeat < plan.repeats; ++repeat) {
    decoding.push_back(NanosecondsPerRound(plan.rounds, decode));
    encoding.push_back(NanosecondsPerRound(plan.rounds, encode));
  }
  std::sort(decoding.begin(), decoding.end());
  std::sort(encoding.begin(), encoding.end());
  std::printf("%s decode_ns=%.0f encode_ns=%.0f decode_best_ns=%.0f encode_best_ns=%.0f\n", name,
              decoding[decoding.size() / 2], encoding[encoding.size() / 2], decoding.front(), encoding.front());
}

void MeasureHeap(const Plan &plan) {
  codec::Order order;
  order.ParseFromString(plan.bytes);
  const auto decode = [&plan] {
    codec::Order fresh;
    fresh.ParseFromString(plan.bytes);
    Keep(&fresh);
  };
  const auto encode = [&order] {
    std::string bytes;
    order.SerializeToString(&bytes);
    Keep(bytes.data());
  };
  Report("heap", plan, decode, encode);
}

void MeasureArena(const Plan &plan) {
  google::protobuf::Arena lasting;
  auto *order = google::protobuf::Arena::CreateMessage<codec::Order>(&lasting);
  order->ParseFromString(plan.bytes);
  // One arena per message, like a server's arena per call.
  const auto decode = [&plan] {
    google::protobuf::Arena arena;
    auto *fresh = google::protobuf::Arena::CreateMessage<codec::Order>(&arena);
    fresh->ParseFromString(plan.bytes);
    Keep(fresh);
  };
  const auto encode = [order] {
    std::string bytes;
    order->SerializeToString(&bytes);
    Keep(bytes.data());
  };
  Report("arena", plan, decode, encode);
}

void MeasureJSON(const Plan &plan) {
  codec::Order order;
  order.ParseFromString(plan.bytes);
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(order, &text).ok()) std::abort();
  const auto decode = [&text] {
    codec::Order fresh;
    if (!google::protobuf::util::JsonStringToMessage(text, &fresh).ok()) std::abort();
    Keep(&fresh);
  };
  const auto encode = [&order] {
    std::string fresh;
    if (!google::protobuf::util::MessageToJsonString(order, &fresh).ok()) std::abort();
    Keep(fresh.data());
  };
  Report("json", plan, decode, encode);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s ORDER.BIN ROUNDS REPEATS\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const Plan plan{std::string(std::istreambuf_iterator<char>(file), {}), std::atoi(argv[2]), std::atoi(argv[3])};
  codec::Order order;
  if (plan.rounds < 1 || plan.repeats < 1 || plan.bytes.empty() || !order.ParseFromString(plan.bytes)) {
    std::fprintf(stderr, "%s: no order in %s, or no rounds or repeats\n", argv[0], argv[1]);
    return 1;
  }
  MeasureHeap(plan);
  MeasureArena(plan);
  MeasureJSON(plan);
}
