/// What the command line asks for.
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

  /// Why a command line is not understood.
  struct UsageError: Error, CustomStringConvertible {
    let description: String
  }

  var mode = Mode.help
  var host = "localhost"
  var port = 1234
  var intercepts = false
  var isSecure = false

  static let help = """
    Says again what it hears, over gRPC.

    usage: Echo server [--host HOST] [--port PORT] [--tls]
           Echo client [--host HOST] [--port PORT] [--tls] [--intercept] [RPC] MESSAGE

    RPC is one of
      get       one request, one response (the default)
      expand    one request, a response for each word
      collect   a request for each word, one response
      update    a request and a response for each word

      --host HOST   where to listen, or what to connect to (localhost)
      --port PORT   (1234; a server takes 0 for any that is free, and says which)
      --tls         use TLS, with a certificate that comes with this example
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
      case "--host": host = try Self.value(of: word, &rest)
      case "--port": port = try Self.port(Self.value(of: word, &rest))
      case "--": positional += rest
      case _ where word.hasPrefix("-"): throw UsageError(description: "there is no option \(word)")
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
      throw UsageError(description: "\(value) is no port: it takes a number from 0 to 65535")
    }
    return Int(port)
  }

  private static func mode(_ words: [String]) throws(UsageError) -> Mode {
    switch (words.first, words.count) {
    case ("server", 1):
      return .server
    case ("server", _):
      throw UsageError(description: "a server takes no message")
    case ("client", 2):
      return .client(.get, message: words[1])
    case ("client", 3):
      guard let rpc = RPC(rawValue: words[1]) else {
        let known = RPC.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError(description: "there is no RPC \(words[1]): it is one of \(known)")
      }
      return .client(rpc, message: words[2])
    case ("client", _):
      throw UsageError(description: "a client takes one message: put several words into quotes")
    case (let word?, _):
      throw UsageError(description: "\(word) is neither server nor client")
    case (nil, _):
      throw UsageError(description: "say whether to be a server or a client")
    }
  }
}
