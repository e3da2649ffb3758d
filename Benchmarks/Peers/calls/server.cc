// The server of the workload: the callback API for unary calls, which is the fastest in gRPC C++ with many calls, and
// blocking threads for streams, which are the fastest with few.
#include "server.h"

#include <grpcpp/grpcpp.h>

#include <csignal>
#include <string>
#include <thread>

#include "bench.grpc.pb.h"

namespace {

class BenchService final : public bench::Bench::WithCallbackMethod_Unary<bench::Bench::Service> {
  grpc::ServerUnaryReactor *Unary(grpc::CallbackServerContext *context, const bench::Text *request,
                                  bench::Text *response) override {
    response->set_text(request->text());
    auto *reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::Status ServerStream(grpc::ServerContext *, const bench::Plan *plan,
                            grpc::ServerWriter<bench::Chunk> *writer) override {
    bench::Chunk chunk;
    chunk.set_payload(std::string(plan->bytes(), 'x'));
    for (uint32_t i = 0; i < plan->messages(); ++i) {
      if (!writer->Write(chunk)) return grpc::Status::CANCELLED;
    }
    return grpc::Status::OK;
  }

  grpc::Status ClientStream(grpc::ServerContext *, grpc::ServerReader<bench::Chunk> *reader,
                            bench::Plan *plan) override {
    bench::Chunk chunk;
    while (reader->Read(&chunk)) {
      plan->set_messages(plan->messages() + 1);
      plan->set_bytes(static_cast<uint32_t>(chunk.payload().size()));
    }
    return grpc::Status::OK;
  }

  grpc::Status Bidi(grpc::ServerContext *,
                    grpc::ServerReaderWriter<bench::Text, bench::Text> *stream) override {
    bench::Text text;
    while (stream->Read(&text)) {
      if (!stream->Write(text)) return grpc::Status::CANCELLED;
    }
    return grpc::Status::OK;
  }
};

std::shared_ptr<grpc::ServerCredentials> Credentials(const Arguments &arguments) {
  if (!arguments.tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back(
      {Arguments::Read("localhost.key"), Arguments::Read("localhost.pem")});
  return grpc::SslServerCredentials(options);
}

}  // namespace

int RunServer(Arguments &arguments) {
  int port = static_cast<int>(arguments.NextCount("PORT"));
  // Blocked before any thread starts, so that only the wait below receives them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  BenchService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("0.0.0.0:" + std::to_string(port), Credentials(arguments), &port);
  builder.RegisterService(&service);
  auto server = builder.BuildAndStart();
  if (!server) return 1;
  std::printf("listening on ipv4:0.0.0.0:%d\n", port);
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  return 0;
}
