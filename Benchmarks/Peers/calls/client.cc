// The callers of the workload: blocking calls, a thread for each caller.
#include "client.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench.grpc.pb.h"
#include "figures.h"

namespace {

const char *const kText = "Hello, gRPC!";

std::unique_ptr<bench::Bench::Stub> Connect(const std::string &target, const Arguments &arguments) {
  grpc::ChannelArguments options;
  // Otherwise channels to the same server share a connection.
  options.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (arguments.round_robin) options.SetLoadBalancingPolicyName("round_robin");
  if (arguments.tls) {
    credentials = grpc::SslCredentials({Arguments::Read("localhost.pem"), "", ""});
    options.SetSslTargetNameOverride("localhost");
  }
  auto channel = grpc::CreateCustomChannel(target, credentials, options);
  channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10));
  return bench::Bench::NewStub(channel);
}

bool CallOnce(bench::Bench::Stub &stub) {
  grpc::ClientContext context;
  bench::Text request;
  bench::Text response;
  request.set_text(kText);
  return stub.Unary(&context, request, &response).ok() && response.text() == kText;
}

struct Tally {
  Latencies latencies;
  uint64_t failed = 0;

  void Call(bench::Bench::Stub &stub, Clock::time_point end) {
    auto start = Clock::now();
    while (start < end) {
      if (!CallOnce(stub)) ++failed;
      auto now = Clock::now();
      latencies.Add(now - start);
      start = now;
    }
  }
};

}  // namespace

int RunUnary(Arguments &arguments) {
  std::string target = arguments.Next("HOST:PORT");
  double seconds = static_cast<double>(arguments.NextCount("SECONDS"));
  long callers = arguments.NextCount("CALLERS");
  long connections = arguments.NextCount("CONNECTIONS");
  std::vector<std::unique_ptr<bench::Bench::Stub>> stubs;
  for (long i = 0; i < connections; ++i) stubs.push_back(Connect(target, arguments));

  auto run = [&](double length) {
    std::vector<Tally> tallies(static_cast<size_t>(callers));
    std::vector<std::thread> threads;
    auto start = Clock::now();
    auto end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(length));
    for (long i = 0; i < callers; ++i) {
      threads.emplace_back([&, i] { tallies[static_cast<size_t>(i)].Call(*stubs[i % connections], end); });
    }
    for (auto &thread : threads) thread.join();
    double elapsed = SecondsSince(start);
    for (size_t i = 1; i < tallies.size(); ++i) {
      tallies[0].latencies.Add(tallies[i].latencies);
      tallies[0].failed += tallies[i].failed;
    }
    return std::make_pair(tallies[0], elapsed);
  };
  run(0.3);
  auto [tally, elapsed] = run(seconds);
  uint64_t good = tally.latencies.count() - tally.failed;
  std::printf("unary calls/s=%.0f p50=%.1f p99=%.1f latency_unit=us failed=%llu\n",
              static_cast<double>(good) / elapsed, tally.latencies.Percentile(0.5),
              tally.latencies.Percentile(0.99), static_cast<unsigned long long>(tally.failed));
  return tally.failed == 0 ? 0 : 1;
}

int RunStream(Arguments &arguments) {
  std::string target = arguments.Next("HOST:PORT");
  auto messages = static_cast<uint32_t>(arguments.NextCount("MESSAGES"));
  auto bytes = static_cast<uint32_t>(arguments.NextCount("BYTES"));
  auto stub = Connect(target, arguments);

  auto run = [&](uint32_t count) {
    grpc::ClientContext context;
    bench::Plan plan;
    plan.set_messages(count);
    plan.set_bytes(bytes);
    bench::Chunk chunk;
    uint32_t good = 0;
    auto reader = stub->ServerStream(&context, plan);
    while (reader->Read(&chunk)) {
      if (chunk.payload().size() == bytes) ++good;
    }
    return reader->Finish().ok() ? good : 0;
  };
  run(messages / 10 + 1);
  auto start = Clock::now();
  uint32_t good = run(messages);
  double elapsed = SecondsSince(start);
  std::printf("stream msgs/s=%.0f MB/s=%.1f failed=%u\n", good / elapsed,
              static_cast<double>(good) * bytes / elapsed / 1e6, messages - good);
  return good == messages ? 0 : 1;
}

int RunBidi(Arguments &arguments) {
  std::string target = arguments.Next("HOST:PORT");
  long messages = arguments.NextCount("MESSAGES");
  auto stub = Connect(target, arguments);
  Latencies latencies;

  auto run = [&](long count, bool counts) {
    grpc::ClientContext context;
    auto stream = stub->Bidi(&context);
    bench::Text request;
    bench::Text response;
    request.set_text(kText);
    long good = 0;
    auto start = Clock::now();
    for (long i = 0; i < count; ++i) {
      if (!stream->Write(request) || !stream->Read(&response) || response.text() != kText) break;
      ++good;
      auto now = Clock::now();
      if (counts) latencies.Add(now - start);
      start = now;
    }
    stream->WritesDone();
    while (stream->Read(&response)) --good;
    return stream->Finish().ok() ? good : 0;
  };
  run(messages / 10 + 1, false);
  auto start = Clock::now();
  long good = run(messages, true);
  double elapsed = SecondsSince(start);
  std::printf("bidi roundtrips/s=%.0f p50=%.1f p99=%.1f latency_unit=us failed=%ld\n",
              static_cast<double>(good) / elapsed, latencies.Percentile(0.5), latencies.Percentile(0.99),
              messages - good);
  return good == messages ? 0 : 1;
}
