import Switchboard

/// The parsed command line.
struct Arguments {
  enum Mode: Equatable {
    case help
    case server
    case client(RPC, message: String)
  }

  enum RPC: String, CaseIterable {
    case get
    case expand
    case collect
    case update
  }

  /// An invalid command line.
  struct UsageError: Error, CustomStringConvertible {
    let description: String
  }

  var mode = Mode.help
  var host = "localhost"
  var port = 1234
  var intercepts = false
  var isSecure = false
  var answersWeb = false
  var wireProtocol = CallProtocol.grpc

  static let help = """
    Echoes messages over gRPC.

    usage: Echo server [--host HOST] [--port PORT] [--tls] [--web]
           Echo client [--host HOST] [--port PORT] [--tls] [--intercept] [--protocol NAME] [RPC] MESSAGE

    RPC is one of
      get       one request, one response (the default)
      expand    one request, a response for each word
      collect   a request for each word, one response
      update    a request and a response for each word

      --host HOST   the host to listen on or to connect to (localhost)
      --port PORT   (1234; with 0, a server picks a free port and prints it)
      --tls         use TLS, with the certificate in this example
      --web         answer Connect and gRPC-Web too, also over HTTP/1.1, and JSON
      --protocol NAME  grpc (the default), grpc-web or connect
      --intercept   print each part of the call as an interceptor sees it
      --help        print this
    """

  init(_ words: [String]) throws(UsageError) {
    var positional: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "-h", "--help": return
      case "--intercept": intercepts = true
      case "--tls": isSecure = true
      case "--web": answersWeb = true
      case "--protocol": wireProtocol = try Self.wireProtocol(Self.value(of: word, &rest))
      case "--host": host = try Self.value(of: word, &rest)
      case "--port": port = try Self.port(Self.value(of: word, &rest))
      case "--": positional += rest
      case _ where word.hasPrefix("-"): throw UsageError(description: "unknown option \(word)")
      default: positional.append(word)
      }
    }
    mode = try Self.mode(positional)
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String
  {
    guard let value = rest.popFirst() else { throw UsageError(description: "\(option) needs a value") }
    return value
  }

  private static func port(_ value: String) throws(UsageError) -> Int {
    guard let port = UInt16(value) else {
      throw UsageError(description: "\(value) is not a port: expected a number from 0 to 65535")
    }
    return Int(port)
  }

  private static func wireProtocol(_ name: String) throws(UsageError) -> CallProtocol {
    switch name {
    case "grpc": return .grpc
    case "grpc-web": return .grpcWeb
    case "connect": return .connect
    default: throw UsageError(description: "unknown protocol \(name): expected grpc, grpc-web or connect")
    }
  }

  private static func mode(_ words: [String]) throws(UsageError) -> Mode {
    switch (words.first, words.count) {
    case ("server", 1):
      return .server
    case ("server", _):
      throw UsageError(description: "unexpected argument after server")
    case ("client", 2):
      return .client(.get, message: words[1])
    case ("client", 3):
      guard let rpc = RPC(rawValue: words[1]) else {
        let known = RPC.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError(description: "unknown RPC \(words[1]): expected one of \(known)")
      }
      return .client(rpc, message: words[2])
    case ("client", _):
      throw UsageError(description: "a client sends one message: put several words in quotes")
    case (let word?, _):
      throw UsageError(description: "\(word) is neither server nor client")
    case (nil, _):
      throw UsageError(description: "expected server or client")
    }
  }
}
