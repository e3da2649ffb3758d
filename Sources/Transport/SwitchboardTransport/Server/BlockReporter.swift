import SwitchboardCall
import SwitchboardNetwork

/// Says which methods of a server block its loops: in the log, for each once a minute, and to the observer, every time.
final class BlockReporter: BlockListener {
  /// How long a loop may be blocked without a word, in nanoseconds.
  let limit: UInt64
  private let logger: Logger
  private let observer: (any CallObserver)?
  private let methods: [UInt: MethodDescriptor]
  private let entries = Locked<[ObjectIdentifier?: Entry]>([:])

  private static let pause: UInt64 = 60_000_000_000

  /// The latest entry of a method in the log.
  private struct Entry {
    let time: UInt64
    /// How often it has blocked a loop since.
    var unreported = 0
  }

  /// `nil` if the options do not want it.
  init?(_ options: ServerOptions, _ methods: [RPCMethod]) {
    guard let limit = options.blockedLoopLimit else { return nil }
    self.limit = limit.nanoseconds
    logger = options.logger
    observer = options.observer
    let all = methods.flatMap(\.inAllFormats).map { ($0.number, $0.descriptor) }
    self.methods = Dictionary(all) { first, _ in first }
  }

  /// Whether this is the number of one of the server's methods.
  func knows(_ number: UInt) -> Bool { methods[number] != nil }

  /// Reports a loop that is blocked, by the method with this number if the server has it. Returns whether the log has it.
  func blocked(_ number: UInt, for time: UInt64, at now: UInt64) -> Bool {
    let method = methods[number]
    observer?.loopBlocked(by: method, for: .nanoseconds(Int64(clamping: time)))
    guard let unreported = count(method.map { ObjectIdentifier($0) }, at: now) else { return false }
    var details = ["for": Self.text(time), "hint": Self.hint(method)]
    if let method { details["method"] = method.path }
    if unreported > 0 { details["unreported"] = "\(unreported) times since the last entry" }
    let who = method == nil ? "something" : "a handler, or an interceptor of its method,"
    logger.log(.warning, "\(who) blocks an event loop, on which all other calls wait", details)
    return true
  }

  /// Reports the end of what is in the log.
  func released(_ number: UInt, after time: UInt64) {
    var details = ["after": Self.text(time)]
    if let method = methods[number] { details["method"] = method.path }
    logger.log(.warning, "an event loop that was blocked goes on", details)
  }

  /// Returns how often the method has blocked a loop since its last entry, if it is time for another one.
  private func count(_ method: ObjectIdentifier?, at now: UInt64) -> Int? {
    entries.withLock { entries in
      if let entry = entries[method], now - entry.time < Self.pause {
        entries[method]?.unreported += 1
        return nil
      }
      defer { entries[method] = Entry(time: now) }
      return entries[method]?.unreported ?? 0
    }
  }

  private static func text(_ time: UInt64) -> String { "\(time / 1_000_000) ms" }

  private static func hint(_ method: MethodDescriptor?) -> String {
    guard let method else {
      return "perhaps a page, a task that a handler has started, or work given to EventLoop.execute; "
        + "or the machine has too little time for the process"
    }
    return "let it await instead of blocking, or run it elsewhere: a handler by "
      + "ServerOptions.handlerPlacements[\"\(method.path)\"] = .threads, an interceptor by its requestExecutor"
  }
}
