// The command line: the name of a benchmark, its arguments, and the same flags as in our own benchmarks.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

class Arguments {
 public:
  Arguments(int count, char **words) {
    for (int i = 1; i < count; ++i) {
      std::string word = words[i];
      if (word == "--tls") {
        tls = true;
      } else if (word == "--round-robin") {
        round_robin = true;
      } else if (word.rfind("--", 0) == 0) {
        Fail("unknown option " + word);
      } else {
        positional_.push_back(word);
      }
    }
  }

  bool tls = false;
  bool round_robin = false;

  std::string Next(const char *name) {
    if (next_ == positional_.size()) Fail(std::string(name) + " is missing");
    return positional_[next_++];
  }

  long NextCount(const char *name) {
    std::string word = Next(name);
    char *end = nullptr;
    long count = std::strtol(word.c_str(), &end, 10);
    if (*end != 0 || count < 0) Fail(std::string(name) + " is '" + word + "', which is not a number");
    return count;
  }

  [[noreturn]] static void Fail(const std::string &message) {
    std::fprintf(stderr, "calls: %s\n%s", message.c_str(), kUsage);
    std::exit(2);
  }

  // The certificate and key of both sides.
  static std::string Read(const char *name) {
    std::ifstream file(std::string(CERTIFICATE_FOLDER) + "/" + name);
    if (!file) Fail(std::string("cannot read ") + name + ", which scripts/bench/certificate makes");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  static constexpr const char *kUsage =
      "usage: calls server PORT\n"
      "       calls unary HOST:PORT SECONDS CALLERS CONNECTIONS\n"
      "       calls stream HOST:PORT MESSAGES BYTES\n"
      "       calls bidi HOST:PORT MESSAGES\n"
      "       and --tls on any of them, --round-robin on those that make calls\n";

  std::vector<std::string> positional_;
  size_t next_ = 0;
};
