/// The parsed command line.
struct Arguments {
  enum Mode: Equatable {
    case help
    case server(name: String)
    case client(target: String)
  }

  /// An invalid command line.
  struct UsageError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  var mode = Mode.help
  var host = "127.0.0.1"
  var port = 0
  var delay = 0
  var fails = false
  var calls = 100
  var callers = 1
  var timeout = 10_000
  var policy: String?
  var config: String?

  static let usage = """
    usage: Replicas server --port PORT --name NAME [--host HOST] [--delay MS] [--fail]
           Replicas client TARGET [--policy NAME | --config FILE] [--calls N] [--callers N] [--timeout MS]
           Replicas --help
    """

  static let help = """
    Several servers of one name, and a client that spreads its calls over them.

    \(usage)

    A server answers with its name, until SIGTERM or SIGINT. Calls in progress may finish.

      --port PORT     the port to listen on (with 0, a free one, which is printed)
      --name NAME     what it answers
      --host HOST     the address to listen on (127.0.0.1)
      --delay MS      wait so many milliseconds before each answer
      --fail          fail all calls as unavailable

    A client prints who answered how many calls, and how many failed.

      TARGET          such as dns:///greeter.example:50051, ipv4:127.0.0.1:50051,127.0.0.2:50051,
                      or file:///etc/greeters, with an address in each line
      --policy NAME   the load balancing policy, with its defaults: pick_first, round_robin, ..., and
                      example.random, which is this program's own (pick_first)
      --config FILE   a service config in JSON, which chooses the policy
      --calls N       how many calls to make (100)
      --callers N     how many calls to make at a time (1)
      --timeout MS    how long a call may take (10000)
    """

  init(_ words: [String]) throws(UsageError) {
    var positional: [String] = []
    var options: [String: String] = [:]
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "-h", "--help": return
      case "--fail": options[word] = ""
      case "--port", "--name", "--host", "--delay", "--policy", "--config", "--calls", "--callers",
        "--timeout":
        guard let value = rest.popFirst() else { throw UsageError("\(word) needs a value") }
        guard options.updateValue(value, forKey: word) == nil else {
          throw UsageError("\(word) is given twice")
        }
      case _ where word.hasPrefix("-"): throw UsageError("unknown option \(word)")
      default: positional.append(word)
      }
    }
    switch positional.first {
    case "server": try readServer(positional, &options)
    case "client": try readClient(positional, &options)
    case let word?: throw UsageError("\(word) is neither server nor client")
    case nil: throw UsageError("expected server or client")
    }
    if let stray = options.keys.min() { throw UsageError("\(stray) is not an option of a \(positional[0])") }
  }

  private mutating func readServer(
    _ words: [String],
    _ options: inout [String: String]
  ) throws(UsageError) {
    guard words.count == 1 else { throw UsageError("unexpected argument \(words[1]) after server") }
    guard let name = options.removeValue(forKey: "--name"), !name.isEmpty else {
      throw UsageError("a server needs --name NAME")
    }
    guard options["--port"] != nil else { throw UsageError("a server needs --port PORT") }
    mode = .server(name: name)
    port = try Self.number("--port", in: 0...65_535, &options) ?? port
    delay = try Self.number("--delay", in: 0...3_600_000, &options) ?? delay
    host = options.removeValue(forKey: "--host") ?? host
    fails = options.removeValue(forKey: "--fail") != nil
  }

  private mutating func readClient(
    _ words: [String],
    _ options: inout [String: String]
  ) throws(UsageError) {
    guard words.count > 1 else { throw UsageError("a client needs a target") }
    guard words.count == 2 else { throw UsageError("unexpected argument \(words[2]) after \(words[1])") }
    mode = .client(target: words[1])
    calls = try Self.number("--calls", in: 0...1_000_000_000, &options) ?? calls
    callers = try Self.number("--callers", in: 1...10_000, &options) ?? callers
    timeout = try Self.number("--timeout", in: 1...3_600_000, &options) ?? timeout
    policy = options.removeValue(forKey: "--policy")
    config = options.removeValue(forKey: "--config")
    guard policy == nil || config == nil else {
      throw UsageError("--policy and --config cannot be given together: the file chooses the policy")
    }
  }

  /// The value of an option that is a number; `nil` if it is not given.
  private static func number(
    _ option: String,
    in range: ClosedRange<Int>,
    _ options: inout [String: String]
  ) throws(UsageError) -> Int? {
    guard let text = options.removeValue(forKey: option) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError("\(option) \(text): expected a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
