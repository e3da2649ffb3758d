// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The signal handlers before watching started. libuv does not restore them: it resets signals to their default action.
enum SignalHandlers {
  private struct Entry: @unchecked Sendable {
    // Sendable because the system's description of a handler is only copied, and pointers in it are never dereferenced.
    var before: sigaction
    /// The handler that libuv installed.
    var own: Int?
    var watchers = 0
    /// Whether a signal has ended a watch.
    var hasCome = false
  }

  private static let entries = Locked<[Int32: Entry]>([:])

  /// Calls `start`, which lets libuv watch for the signal. The first watcher saves the previous handler.
  static func watch(_ number: Int32, _ start: () -> Int32) -> Int32 {
    entries.withLock { entries in
      var entry = entries[number] ?? Entry(before: current(number))
      let result = start()
      guard result == 0 else { return result }
      // For further watchers libuv installs nothing: the current handler is libuv's or that of other code.
      if entry.watchers == 0 { entry.own = address(in: current(number)) }
      entry.watchers += 1
      entries[number] = entry
      return result
    }
  }

  /// Calls `stop`, which ends libuv's watch, because a signal `hasCome` or for another reason. The last watcher restores the
  /// previous handler, unless other code has installed another one since.
  ///
  /// A signal that was ignored before is not ignored again once one has come. Shells have background commands of scripts ignore
  /// SIGINT; whoever watches for it nevertheless means that it ends the process, and so does whoever sends it twice.
  static func unwatch(_ number: Int32, hasCome: Bool, _ stop: () -> Void) {
    entries.withLock { entries in
      let found = current(number)
      stop()
      guard var entry = entries[number] else { return }
      entry.watchers -= 1
      entry.hasCome = entry.hasCome || hasCome
      entries[number] = entry.watchers > 0 ? entry : nil
      if address(in: found) != entry.own { return put(found, number) }
      guard entry.watchers == 0 else { return }
      // A new description of a handler is that of the default.
      put(entry.hasCome && isIgnored(entry.before) ? sigaction() : entry.before, number)
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

  private static func isIgnored(_ action: sigaction) -> Bool {
    address(in: action) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private static func address(in action: sigaction) -> Int {
    #if canImport(Glibc)
      unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    #else
      unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
    #endif
  }
}
