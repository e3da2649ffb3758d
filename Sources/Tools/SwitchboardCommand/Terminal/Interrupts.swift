// unsafe: sources of Dispatch may be used from any thread, but do not all say so

import Dispatch
import Switchboard
import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Ctrl-C, and the signals that ask a process to end: the first asks the verb to finish, the second ends the process.
///
///     let interrupts = await Interrupts { call.cancel() }
///     defer { interrupts.stop() }
final class Interrupts: Sendable {
  /// Dispatch sources are thread-safe, but not declared as `Sendable` on all platforms.
  private struct SignalSource: @unchecked Sendable {
    let source: any DispatchSourceSignal
  }

  private struct State {
    var count = 0
    var sources: [SignalSource] = []
    /// Cleanup before the process ends at once, such as showing the cursor again.
    var atOnce: (@Sendable () -> Void)?
  }

  private static let signals = [SIGINT, SIGTERM]
  /// A separate queue gets a thread even if all others are blocked, for example by reading from a terminal.
  private static let queue = DispatchQueue(label: "switchboard.interrupts")
  private let state = Locked(State())

  /// Calls `first` on the first signal, from some thread. On the second, calls `atOnce` and ends the process.
  ///
  /// Returns once the signals are being watched. Until then they end the process as usual, and none is lost in between.
  init(atOnce: (@Sendable () -> Void)? = nil, _ first: @escaping @Sendable () -> Void) async {
    state.withLock { $0.atOnce = atOnce }
    for number in Self.signals {
      await withCheckedContinuation { watched in
        #if canImport(Darwin)
          // Dispatch also receives ignored signals, but does not suppress the default action itself.
          signal(number, SIG_IGN)
        #endif
        let source = DispatchSource.makeSignalSource(signal: number, queue: Self.queue)
        source.setEventHandler { [weak self] in self?.received(number, first) }
        source.setRegistrationHandler { watched.resume() }
        state.withLock { $0.sources.append(SignalSource(source: source)) }
        source.resume()
      }
    }
  }

  /// Whether there was a signal.
  var isInterrupted: Bool { state.withLock { $0.count > 0 } }

  /// Lets the signals end the process again.
  func stop() {
    let sources = state.withLock { state in
      defer { state.sources = [] }
      return state.sources
    }
    for source in sources { source.source.cancel() }
    for number in Self.signals { signal(number, SIG_DFL) }
  }

  /// Ends the process at once, as Ctrl-C without a handler would.
  static func endProcess() -> Never { _exit(ExitCode.interrupted.rawValue) }

  private func received(_ number: Int32, _ first: @Sendable () -> Void) {
    let (count, atOnce) = state.withLock { state in
      state.count += 1
      return (state.count, state.atOnce)
    }
    guard count > 1 else { return first() }
    atOnce?()
    _exit(128 + number)
  }
}
