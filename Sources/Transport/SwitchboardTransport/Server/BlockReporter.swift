import SwitchboardCall
import SwitchboardNetwork

/// Says which methods of a server block its loops: in the log, for each once a minute, and to the observer, every time.
final class BlockReporter: BlockListener {
  /// How long a loop may be blocked without a word, in nanoseconds.
  let limit: UInt64
  private let log: BlockLog
  private let observer: (any CallObserver)?
  private let methods: [UInt: Known]

  /// What it says of a method. It has no handler: the thread that looks after the loops holds on to reporters while it looks,
  /// and would at times be the last to release a service.
  private struct Known {
    let descriptor: MethodDescriptor
    let abandoned: HandlerCount
  }

  /// `nil` if the options do not want it.
  init?(_ options: ServerOptions, _ methods: [RPCMethod]) {
    guard let limit = options.blockedLoopLimit else { return nil }
    self.limit = limit.nanoseconds
    log = BlockLog(options.logger)
    observer = options.observer
    let all = methods.flatMap(\.inAllFormats).map {
      ($0.number, Known(descriptor: $0.descriptor, abandoned: $0.abandoned))
    }
    self.methods = Dictionary(all) { first, _ in first }
  }

  /// Whether this is the number of one of the server's methods.
  func knows(_ number: UInt) -> Bool { methods[number] != nil }

  /// Reports a loop that is blocked, by the method with this number if the server has it. Returns whether the log has it.
  func blocked(_ number: UInt, for time: UInt64, at now: UInt64) -> Bool {
    let method = methods[number]?.descriptor
    observer?.loopBlocked(by: method, for: .nanoseconds(Int64(clamping: time)))
    let who = method == nil ? "something" : "a handler, or an interceptor of its method,"
    return log.blocked(by: who, method?.path, for: time, at: now, hint: Self.hint(methods[number]))
  }

  /// Reports the end of what is in the log.
  func released(_ number: UInt, after time: UInt64) {
    log.released(methods[number]?.descriptor.path, after: time)
  }

  private static func hint(_ method: Known?) -> String {
    guard let method else {
      return "perhaps a page, a task that a handler has started, or work given to EventLoop.execute; "
        + "or the machine has too little time for the process"
    }
    let advice =
      "let it await instead of blocking, or run it elsewhere: a handler by "
      + "ServerOptions.handlerPlacements[\"\(method.descriptor.path)\"] = .threads, an interceptor by its requestExecutor; or the machine has too "
      + "little time for the process"
    guard method.abandoned.current > 0 else { return advice }
    // Which of the method's handlers it is, is not known.
    return advice
      + ". It may also be a handler whose call has ended, as some have that go on: in a cancelled task, Task.sleep throws at "
      + "once, so let its error out in place of try?, or leave the loop once Task.isCancelled is true"
  }
}
