import TestSupport
import Testing

@testable import SwitchboardCommand

/// Near misses of servers: each is answered with what to write.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TargetMistakeTests {
  @Test(arguments: [
    ("", "it is empty", "localhost:50051"),
    (":50051", "the host is missing", "localhost:50051"),
    ("localhost:", "the port is missing", "localhost:50051"),
    ("localhost:abc", "'abc' is not a port", "localhost:50051"),
    ("localhost:99999", "'99999' is not a port", "localhost:50051"),
    ("localhost:0", "'0' is not a port", "localhost:50051"),
    ("localhost:-1", "'-1' is not a port", "localhost:50051"),
    ("a:1:2", "more than one colon", "a:1"),
    ("local host:1", "it has a space", "localhost:1"),
    (" localhost:1", "it has a space", "localhost:1"),
    ("localhost:1/", "it has a slash", "localhost:1"),
    ("localhost:1/path", "it has a slash", "localhost:1"),
    ("http:host", "two slashes and a host follow 'http:'", "http://host"),
    ("http:/localhost:1", "two slashes and a host follow 'http:'", "http://localhost:1"),
    ("grpc:host", "two slashes and a host follow 'grpc:'", "grpc://host"),
    ("grpcs:", "two slashes and a host follow 'grpcs:'", "grpcs://localhost:50051"),
    ("https//host", "two slashes and a host follow 'https:'", "https://host"),
    ("http://", "the host is missing", "http://localhost:50051"),
    ("http://localhost:1/path", "has no path", "http://localhost:1"),
    ("http://localhost:1/path?x=1", "has no path", "http://localhost:1"),
    ("http://localhost:1?x=1", "has no query", "http://localhost:1"),
    ("dns:///localhost:1?x=1", "has no query", "dns:///localhost:1"),
    ("localhost:1#x", "has no query", "localhost:1"),
    ("localhost:x?x=1", "'x' is not a port", "localhost:50051"),
    ("http://localhost:x", "'x' is not a port", "http://localhost:50051"),
    ("htps://host:1", "the scheme 'htps' is unknown", "https://host:1"),
    ("127.1", "'127.1' is not an address of IPv4, which has four numbers", "127.0.0.1"),
    ("http://127.1:80", "'127.1' is not an address of IPv4", "http://127.0.0.1:80"),
    ("10.2.3:80", "'10.2.3' is not an address of IPv4", "10.2.0.3:80"),
    ("[::1", "the bracket is not closed", "[::1]:50051"),
    ("[::1]x", "a port follow the bracket", "[::1]:50051"),
    ("::1:50051", "IPv6 with a port has brackets", "[::1]:50051"),
    ("unix:", "the socket is missing", "unix:/run/server.sock"),
    ("unix://run/a.sock", "a path follows the colon", "unix:/run/a.sock"),
    ("/run/a.sock", "follows 'unix:'", "unix:/run/a.sock"),
    ("./a.sock", "follows 'unix:'", "unix:./a.sock"),
    ("127.0.0.1:1,127.0.0.1:2", "several addresses follow 'ipv4:'", "ipv4:127.0.0.1:1,127.0.0.1:2"),
    ("localhost:1,localhost:2", "several servers have one name in DNS", "localhost:1"),
  ]) func aNearMissIsAnsweredWithWhatToWrite(_ text: String, _ reason: String, _ suggestion: String) throws {
    let mistake = try #require(TargetMistake(in: text), "\(text)")
    #expect(mistake.reason.contains(reason), "\(text): \(mistake.reason)")
    #expect(mistake.suggestion == suggestion, "\(text)")
    // Nobody is sent from one mistake to the next.
    #expect(TargetMistake(in: suggestion) == nil)
  }

  /// These have no suggestion that would be right more often than wrong.
  @Test(arguments: [
    ("ftp://host", "the scheme 'ftp' is unknown; there are http, https, grpc, grpcs, dns"),
    ("xds:///a", "the scheme 'xds' is unknown"),
    ("shop.Shop/Buy", "TARGET is HOST[:PORT], and the name of a method comes after it"),
  ]) func others(_ text: String, _ reason: String) throws {
    let mistake = try #require(TargetMistake(in: text))
    #expect(mistake.reason.hasPrefix(reason) || mistake.reason.hasSuffix(reason), "\(mistake.reason)")
  }

  @Test(arguments: [
    "localhost", "localhost:1", "shop.example", "127.0.0.1:50051", "::1", "[::1]", "[::1]:1", "unix:a",
    "unix:///a", "unix:a?b#c",
    "unix-abstract:a", "dns:///a:1", "dns:a", "dns://1.1.1.1/a", "ipv4:127.0.0.1:1,127.0.0.1:2", "http://a",
    "HTTPS://a:1/", "grpc://[::1]:1", "grpcs://a", "http:8080", "http://ipv4:127.0.0.1:1/", "a-b_c.d:1",
  ]) func serversAreNoMistakes(_ text: String) { #expect(TargetMistake(in: text) == nil) }

  @Test(arguments: [
    ["list", "http://localhost:1/shop"], ["describe", "http://localhost:1/shop"],
    ["call", "http://localhost:1/shop", "a.B/C"], ["health", "http://localhost:1/shop"],
    ["channelz", "http://localhost:1/shop"], ["xds", "http://localhost:1/shop"],
    ["load", "http://localhost:1/shop", "a.B/C"],
    ["mock", "--record", "http://localhost:1/shop"], ["openapi", "http://localhost:1/shop"],
  ]) func noVerbDropsAPath(_ words: [String]) throws {
    let run = try Command.product("switchboard", words)
    #expect(run.exitCode == 64)
    #expect(
      run.errors == """
        switchboard: 'http://localhost:1/shop' is not a server: a URL of a gRPC server has no path
        Write 'http://localhost:1'.

        """
    )
  }

  @Test func aPasswordIsNotRepeated() throws {
    let run = try Run("list", "https://me:s3cret@shop.example")
    #expect(run.exitCode == 64 && run.errors.contains("with -H @FILE"), "\(run.errors)")
    #expect(!run.errors.contains("s3cret"))
  }

  @Test(arguments: [
    "https://shop.example?key=s3cret", "https://shop.example/a?key=s3cret", "htps://shop.example?key=s3cret",
    "shop.example?key=s3cret", "shop.example:1?key=s3cret", "dns:///shop.example?key=s3cret",
    "a b?key=s3cret",
    "a,b?key=s3cret", "[::1?key=s3cret", "me:s3cret@shop.example?a", "me:s3cret@shop.example",
    "ipv4:1.2.3.4:1#s3cret",
  ]) func aQueryIsNotRepeated(_ target: String) throws {
    let run = try Run("list", target)
    #expect(run.exitCode == 64 && !run.errors.contains("s3cret"), "\(run.errors)")
  }

  @Test func agentsAreHostsAndPorts() throws {
    let words = [
      "load", "127.0.0.1:1", "shop.Shop/Buy", "--proto", Run.protos + "/shop.proto", "--agent-token", "x",
    ]
    for agent in ["a", "http://a:1", "a:x"] {
      let run = try Command.product("switchboard", words + ["--agents", "b:1," + agent])
      #expect(run.exitCode == 64 && run.errors.contains("'\(agent)'"), "\(run.errors)")
    }
  }
}
