/// The arguments of the command line, consumed one after the other, and its flags, which may be anywhere.
struct Arguments {
  /// Arguments that do not match the usage.
  struct Misuse: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  /// Flags that change how calls are made or served.
  enum Flag: String, CaseIterable {
    case tls = "--tls"
    case onLoop = "--on-loop"
    case lowLatency = "--low-latency"
    case openSSLAllocator = "--openssl-allocator"
    case twoLoops = "--two-loops"
    case reusePort = "--reuse-port"
    case inThreads = "--in-threads"
    case inPool = "--in-pool"
    case web = "--web"
    case metrics = "--metrics"
    case console = "--console"
    case roundRobin = "--round-robin"
  }

  private var rest: ArraySlice<String>
  private var flags: Set<Flag> = []

  init(_ words: [String]) throws(Misuse) {
    var positional: [String] = []
    for word in words {
      if let flag = Flag(rawValue: word) {
        flags.insert(flag)
      } else if word.hasPrefix("--"), word != "--help" {
        throw Misuse(text: "unknown option \(word)\n\(Benchmarks.usage)")
      } else {
        positional.append(word)
      }
    }
    rest = positional[...]
  }

  /// The next argument; errors call it `name`.
  mutating func next(_ name: String) throws(Misuse) -> String {
    guard let word = rest.popFirst() else { throw Misuse(text: "\(name) is missing\n\(Benchmarks.usage)") }
    return word
  }

  /// The next argument as a number above zero.
  mutating func nextCount(_ name: String) throws(Misuse) -> Int {
    let count = try nextNumber(name)
    guard count > 0 else { throw Misuse(text: "\(name) is \(count), which is not a number above zero") }
    return count
  }

  /// The next argument as a number.
  mutating func nextNumber(_ name: String) throws(Misuse) -> Int {
    let word = try next(name)
    guard let number = Int(word), number >= 0 else {
      throw Misuse(text: "\(name) is '\(word)', which is not a number")
    }
    return number
  }

  /// Consumes a flag and returns whether it was given.
  mutating func take(_ flag: Flag) -> Bool { flags.remove(flag) != nil }

  /// Fails if any argument or flag is left.
  func end() throws(Misuse) {
    if let flag = flags.first {
      throw Misuse(text: "\(flag.rawValue) cannot be used here\n\(Benchmarks.usage)")
    }
    guard let word = rest.first else { return }
    throw Misuse(text: "unexpected argument '\(word)'\n\(Benchmarks.usage)")
  }
}
