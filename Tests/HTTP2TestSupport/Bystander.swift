import CallTestSupport
import Glibc
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Synchronization

/// Somebody who makes honest calls, one after the other, on a loop on which something else happens.
///
/// How long a call waits is measured in the processor time of the loop's thread: what the loop does for the call, and for
/// others before it. Other threads and processes do not count, nor does a loop that is blocked or has nothing to do. A
/// wait is compared with what a call takes on the same loop beforehand, so the machine's speed does not count either.
package struct Bystander: Sendable {
  /// How long the calls waited, in nanoseconds.
  package struct Waits: Sendable, CustomStringConvertible {
    /// An ordinary call, before anything else happened.
    package fileprivate(set) var quiet: UInt64 = 0
    /// The longest of those that were made meanwhile.
    package fileprivate(set) var longest: UInt64 = 0
    package fileprivate(set) var calls = 0

    /// Whether each call waited for a few turns of the loop, of the length that they may have. A call takes some turns, and
    /// in code without optimization a piece of work such as filling a buffer with responses takes as long as fifty calls; on
    /// a machine that is busy, a call takes more turns. What a loop does in a turn without limits takes as long as many
    /// hundreds.
    package var areShort: Bool { longest <= quiet * 400 }

    package var description: String {
      "the longest of \(calls) calls waited as long as \(longest / max(1, quiet)) calls take, \(longest / 1000) us"
    }
  }

  private let executor: any TaskExecutor
  private let call: @Sendable () async throws -> Void

  /// `call` makes a call on a channel of the loop that is the executor.
  package init(on executor: any TaskExecutor, _ call: @escaping @Sendable () async throws -> Void) {
    self.executor = executor
    self.call = call
  }

  /// Makes calls of its own server on a loop of `group`, which has no other.
  package static func with<Result>(
    _ group: LoopGroup,
    _ body: (Bystander) async throws -> Result
  ) async throws -> Result {
    let method = MethodDescriptor(service: Echo.name, method: "Get", type: .unary)
    return try await withServer([Echo(method: method)], group: group) { _, address async throws in
      try await withChannel(to: "\(address)", group: group) { channel async throws in
        try await body(
          Bystander(on: channel.eventLoop) { _ = try await channel.call(method).unary([7]) }
        )
      }
    }
  }

  private struct Echo: CallHandlerProvider {
    static let name = "test.Bystander"
    let method: MethodDescriptor
    var serviceName: String { Self.name }
    var methodHandlers: [MethodHandler] { [method.bytes.unaryHandler { request, _ in request }] }
  }

  /// Tries again if a call waited for long, which on a busy machine happens now and then. What always takes long does so
  /// each time. Returns the waits of the last try.
  package static func trying(_ attempt: () async throws -> Waits) async throws -> Waits {
    var waits = try await attempt()
    for _ in 1..<Self.tries where !waits.areShort { waits = try await attempt() }
    return waits
  }

  private static let tries = 4

  /// Makes calls until `body` has returned.
  package func waits(while body: () async throws -> Void) async throws -> Waits {
    let quiet = try await Task(executorPreference: executor) {
      // The first ones connect, and allocate what later ones use again.
      for _ in 0..<Self.quietCalls { try await call() }
      let start = Self.processorTime
      for _ in 0..<Self.quietCalls { try await call() }
      return (Self.processorTime - start) / UInt64(Self.quietCalls)
    }.value
    let end = End()
    let calls = Task(executorPreference: executor) {
      var waits = Waits(quiet: quiet)
      repeat {
        let start = Self.processorTime
        try await call()
        waits.longest = max(waits.longest, Self.processorTime - start)
        waits.calls += 1
      } while !end.hasCome.load(ordering: .relaxed)
      return waits
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    end.hasCome.store(true, ordering: .relaxed)
    let waits = try await calls.value
    try result.get()
    return waits
  }

  private static let quietCalls = 30

  private final class End: Sendable {
    let hasCome = Atomic(false)
  }

  /// That of the thread.
  private static var processorTime: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
