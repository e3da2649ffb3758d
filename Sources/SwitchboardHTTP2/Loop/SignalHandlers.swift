import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What signals did before they were watched for, which libuv forgets: it leaves them with what the system does by itself.
enum SignalHandlers {
  private struct Entry: @unchecked Sendable {
    // Sendable holds because the system's description of a handler is copied, and what is in it never followed.
    var before: sigaction
    /// What libuv has put there.
    var own: Int?
    var watchers = 0
  }

  private static let entries = Locked<[Int32: Entry]>([:])

  /// Calls `start`, which has libuv watch for the signal, and remembers what was there before the first of those who watch.
  static func watch(_ number: Int32, _ start: () -> Int32) -> Int32 {
    entries.withLock { entries in
      var entry = entries[number] ?? Entry(before: current(number))
      let result = start()
      guard result == 0 else { return result }
      // For further watchers libuv puts nothing there: what is found is libuv's, or somebody else's.
      if entry.watchers == 0 { entry.own = address(in: current(number)) }
      entry.watchers += 1
      entries[number] = entry
      return result
    }
  }

  /// Calls `stop`, which has libuv watch no more, and after the last of those who watch puts back what was there; or what
  /// somebody else has put there since.
  static func unwatch(_ number: Int32, _ stop: () -> Void) {
    entries.withLock { entries in
      let found = current(number)
      stop()
      guard var entry = entries[number] else { return }
      entry.watchers -= 1
      entries[number] = entry.watchers > 0 ? entry : nil
      if address(in: found) != entry.own { return put(found, number) }
      if entry.watchers == 0 { put(entry.before, number) }
    }
  }

  private static func current(_ number: Int32) -> sigaction {
    var action = sigaction()
    _ = sigaction(number, nil, &action)
    return action
  }

  private static func put(_ action: sigaction, _ number: Int32) {
    var action = action
    _ = sigaction(number, &action, nil)
  }

  private static func address(in action: sigaction) -> Int {
    #if canImport(Glibc)
      unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    #else
      unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
    #endif
  }
}
