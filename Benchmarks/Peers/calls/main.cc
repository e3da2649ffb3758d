// gRPC C++ with the workload of Protos/bench/bench.proto and the command line of our `Benchmarks`.
#include "arguments.h"
#include "client.h"
#include "server.h"

int main(int count, char **words) {
  Arguments arguments(count, words);
  std::string word = arguments.Next("a benchmark's name");
  if (word == "server") return RunServer(arguments);
  if (word == "unary") return RunUnary(arguments);
  if (word == "stream") return RunStream(arguments);
  if (word == "bidi") return RunBidi(arguments);
  Arguments::Fail("unknown benchmark '" + word + "'");
}
