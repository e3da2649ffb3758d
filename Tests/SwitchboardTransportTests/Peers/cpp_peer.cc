// The peer of CPPTests: Debian's gRPC C++ as a client of our server, or as a server for our client.
//
//     cpp_peer client TARGET [CA]        makes every kind of call; prints what is wrong, then "done"
//     cpp_peer server [CERTIFICATE KEY]  prints its port; ends when its input does
//
// It implements TestService from the Swift tests with raw bytes, so it needs no generated code.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

using grpc::ByteBuffer;
using grpc::Status;
using grpc::StatusCode;
using Messages = std::vector<std::string>;

ByteBuffer Pack(const std::string& bytes) {
  grpc::Slice slice(bytes);
  return ByteBuffer(&slice, 1);
}

std::string Unpack(const ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const auto& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// MARK: The client

struct Outcome {
  Status status;
  Messages responses;
};

// One call: sends all requests, then reads all responses.
class Call : public grpc::ClientBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  Call(grpc::GenericStub& stub, grpc::ClientContext* context, const std::string& method, Messages requests)
      : requests_(std::move(requests)) {
    stub.PrepareBidiStreamingCall(context, "/test.Test/" + method, {}, this);
    StartRead(&response_);
    WriteNext();
    StartCall();
  }

  Outcome Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    return outcome_;
  }

  void OnWriteDone(bool ok) override {
    if (ok) WriteNext();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    outcome_.responses.push_back(Unpack(response_));
    StartRead(&response_);
  }

  void OnDone(const Status& status) override {
    std::lock_guard<std::mutex> lock(mutex_);
    outcome_.status = status;
    done_ = true;
    changed_.notify_all();
  }

 private:
  void WriteNext() {
    if (next_ == requests_.size()) {
      StartWritesDone();
      return;
    }
    request_ = Pack(requests_[next_++]);
    StartWrite(&request_);
  }

  Messages requests_;
  size_t next_ = 0;
  ByteBuffer request_, response_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  Outcome outcome_;
};

class Checks {
 public:
  explicit Checks(std::shared_ptr<grpc::Channel> channel) : stub_(channel) {}

  void Run() {
    Simple();
    Streams();
    Failures();
    Metadata();
    Compression();
    Endings();
  }

 private:
  void Expect(const std::string& what, bool holds) {
    if (!holds) std::cout << what << std::endl;
  }

  Outcome Make(const std::string& method, const Messages& requests,
               const std::function<void(grpc::ClientContext&)>& prepare = {}) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    if (prepare) prepare(context);
    return Call(stub_, &context, method, requests).Wait();
  }

  void Simple() {
    for (size_t size : {0, 1, 1000, 100000, 4000000}) {
      std::string payload(size, 0);
      for (size_t index = 0; index < size; index++) payload[index] = static_cast<char>(index * 31);
      Outcome outcome = Make("Get", {payload});
      Expect("Get of " + std::to_string(size), outcome.status.ok() && outcome.responses == Messages{payload});
    }
  }

  void Streams() {
    std::string all;
    Messages each, parts;
    for (int index = 0; index < 200; index++) {
      all.push_back(static_cast<char>(index));
      each.push_back(std::string(1, static_cast<char>(index)));
    }
    Expect("Expand", Make("Expand", {all}).responses == each);
    std::string joined;
    for (int index = 0; index < 500; index++) {
      parts.push_back(std::string(index, static_cast<char>(index)));
      joined += parts.back();
    }
    Expect("Collect", Make("Collect", parts).responses == Messages{joined});
    Expect("Update", Make("Update", parts).responses == parts);
  }

  void Failures() {
    grpc::ClientContext context;
    Outcome failed = Call(stub_, &context, "Fail", {"50% of ü"}).Wait();
    Expect("Fail's code", failed.status.error_code() == StatusCode::FAILED_PRECONDITION);
    Expect("Fail's message", failed.status.error_message() == "50% of ü");
    auto why = context.GetServerTrailingMetadata().find("why");
    Expect("Fail's trailers",
           why != context.GetServerTrailingMetadata().end() && why->second == "asked to");
    Expect("Missing", Make("Missing", {""}).status.error_code() == StatusCode::UNIMPLEMENTED);
    Outcome large = Make("Get", {std::string(5000000, 0)});
    Expect("a message too large", large.status.error_code() == StatusCode::RESOURCE_EXHAUSTED);
    Outcome ignored = Make("Ignore", Messages(10000, std::string(100, 0)));
    Expect("Ignore", ignored.status.error_code() == StatusCode::RESOURCE_EXHAUSTED);
  }

  void Metadata() {
    const std::string binary("\0\xff", 2);
    grpc::ClientContext context;
    context.AddMetadata("one", "1");
    context.AddMetadata("two-bin", binary);
    Outcome outcome = Call(stub_, &context, "Reflect", {""}).Wait();
    Expect("Reflect", outcome.status.ok());
    for (const auto* metadata : {&context.GetServerInitialMetadata(), &context.GetServerTrailingMetadata()}) {
      auto one = metadata->find("one"), two = metadata->find("two-bin");
      Expect("text in metadata", one != metadata->end() && one->second == "1");
      Expect("bytes in metadata", two != metadata->end() && two->second == binary);
    }
  }

  void Compression() {
    std::string payload;
    for (int index = 0; index < 10000; index++) payload += "again and ";
    for (auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
      Outcome outcome = Make("Get", {payload}, [algorithm](grpc::ClientContext& context) {
        context.set_compression_algorithm(algorithm);
      });
      Expect("compression", outcome.status.ok() && outcome.responses == Messages{payload});
    }
  }

  void Endings() {
    Outcome late = Make("Hang", {""}, [](grpc::ClientContext& context) {
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    });
    Expect("the deadline", late.status.error_code() == StatusCode::DEADLINE_EXCEEDED);
    grpc::ClientContext context;
    Call call(stub_, &context, "Deaf", {""});
    context.TryCancel();
    Expect("the cancellation", call.Wait().status.error_code() == StatusCode::CANCELLED);
  }

  grpc::GenericStub stub_;
};

int Client(const std::string& target, const char* authority) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (authority != nullptr) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = Contents(authority);
    credentials = grpc::SslCredentials(options);
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(5000000);
  Checks(grpc::CreateCustomChannel(target, credentials, arguments)).Run();
  std::cout << "done" << std::endl;
  return 0;
}

// MARK: The server

// One call: each request gets a response at once or at the end, depending on the method.
class TestCall : public grpc::ServerGenericBidiReactor {
 public:
  explicit TestCall(grpc::GenericCallbackServerContext* context) : context_(context) {
    method_ = context->method().substr(context->method().rfind('/') + 1);
    if (method_ == "Reflect") Reflect();
    if (method_ == "Ignore") {
      FinishOnce(Status(StatusCode::RESOURCE_EXHAUSTED, "enough"));
    } else if (Known()) {
      StartRead(&request_);
    } else {
      FinishOnce(Status(StatusCode::UNIMPLEMENTED, "there is no such method here"));
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) return method_ == "Hang" ? void() : End();
    std::string bytes = Unpack(request_);
    if (method_ == "Expand") {
      for (char byte : bytes) Answer(std::string(1, byte));
    } else if (method_ == "Collect") {
      kept_ += bytes;
    } else if (method_ == "Fail") {
      context_->AddTrailingMetadata("why", "asked to");
      return FinishOnce(Status(StatusCode::FAILED_PRECONDITION, bytes));
    } else {
      Answer(method_ == "Reflect" ? context_->peer() : bytes);
    }
    StartRead(&request_);
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    answers_.pop_front();
    if (ok) WriteOrFinish();
  }

  void OnCancel() override { FinishOnce(Status::CANCELLED); }
  void OnDone() override { delete this; }

 private:
  bool Known() const {
    for (const char* name : {"Get", "Fail", "Reflect", "Hang", "Expand", "Collect", "Update"})
      if (method_ == name) return true;
    return false;
  }

  void Reflect() {
    for (const auto& pair : context_->client_metadata()) {
      std::string name(pair.first.data(), pair.first.size()), value(pair.second.data(), pair.second.size());
      if (name != "one" && name != "two-bin") continue;
      context_->AddInitialMetadata(name, value);
      context_->AddTrailingMetadata(name, value);
    }
  }

  void Answer(const std::string& bytes) {
    if (method_ == "Hang") return;
    std::lock_guard<std::mutex> lock(mutex_);
    answers_.push_back(Pack(bytes));
    if (answers_.size() == 1) StartWrite(&answers_.front());
  }

  void End() {
    if (method_ == "Collect") Answer(kept_);
    std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    if (answers_.empty()) WriteOrFinish();
  }

  void WriteOrFinish() {
    if (!answers_.empty()) return StartWrite(&answers_.front());
    if (ended_ && !finished_.exchange(true)) Finish(Status::OK);
  }

  void FinishOnce(const Status& status) {
    if (!finished_.exchange(true)) Finish(status);
  }

  grpc::GenericCallbackServerContext* context_;
  std::string method_, kept_;
  ByteBuffer request_;
  std::mutex mutex_;
  std::deque<ByteBuffer> answers_;
  bool ended_ = false;
  std::atomic<bool> finished_{false};
};

class Service : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return new TestCall(context);
  }
};

int Serve(const char* certificate, const char* key) {
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
  if (certificate != nullptr) {
    grpc::SslServerCredentialsOptions options;
    options.pem_key_cert_pairs.push_back({Contents(key), Contents(certificate)});
    credentials = grpc::SslServerCredentials(options);
  }
  Service service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", credentials, &port);
  builder.RegisterCallbackGenericService(&service);
  builder.SetMaxReceiveMessageSize(5000000);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  std::cout << port << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  std::string role = count > 1 ? words[1] : "";
  if (role == "client" && count > 2) return Client(words[2], count > 3 ? words[3] : nullptr);
  if (role == "server") return Serve(count > 3 ? words[2] : nullptr, count > 3 ? words[3] : nullptr);
  std::cerr << "usage: cpp_peer client TARGET [CA] | server [CERTIFICATE KEY]" << std::endl;
  return 2;
}
