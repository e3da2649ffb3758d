import SwitchboardCall

/// Lets the streams that are ready together do their work, and runs the handlers that they start, on the loop.
///
/// A task costs a small call a tenth of its time. So one task takes handlers one after the other until one of them
/// suspends, which then has the task for itself, and the next task takes the rest. The last stream's handler starts as
/// it would alone. Only a task that has suspended can be cancelled from outside, so cancelling one call never reaches
/// another.
final class HandlerWorker: @unchecked Sendable {
  // Sendable because it is only used on the loop, where its tasks run. Unchecked exclusivity holds for the same reason.

  private let loop: Loop
  @exclusivity(unchecked) private var streams: [StreamEntry]
  /// How many streams have done their work.
  @exclusivity(unchecked) private var count: Int
  /// The stream whose handler runs in the latest task, which has not suspended.
  @exclusivity(unchecked) private var running: (any LoopServerStream)?

  private init(_ loop: Loop, _ streams: consuming [StreamEntry], after count: Int) {
    self.loop = loop
    self.streams = streams
    self.count = count
  }

  /// Has each stream process what it is ready for.
  static func process(_ streams: inout [StreamEntry], on loop: Loop) {
    for index in streams.indices {
      guard process(streams[index], on: loop, isLast: index + 1 == streams.count) else { continue }
      var taken: [StreamEntry] = []
      swap(&taken, &streams)
      let worker = HandlerWorker(loop, taken, after: index + 1)
      worker.run()
      return swap(&worker.streams, &streams)
    }
  }

  /// Returns whether the stream has left a handler to run.
  @inline(__always)
  private static func process(_ stream: StreamEntry, on loop: Loop, isLast: Bool) -> Bool {
    if !isLast { loop.handoff.open(for: stream) }
    Unmanaged.passUnretained(stream).withStream { $0.processReady() }
    return loop.handoff.close()
  }

  private func run() {
    repeat {
      let task: Task<Void, any Error> = .immediate(executorPreference: loop) { await self.runHandlers() }
      running.take()?.handlerRuns(task)
    } while findHandler()
  }

  /// Runs in a task. A handler that suspends is its last one: when it ends, other tasks have run all that waited.
  nonisolated(nonsending) private func runHandlers() async {
    let priority = Task.currentPriority
    repeat {
      guard let (handler, stream) = loop.handoff.give() else { return }
      running = stream
      await handler.runHere()
      running = nil
      // A handler can change its own task.
    } while !Task.isCancelled && Task.currentPriority == priority && findHandler()
  }

  private func findHandler() -> Bool {
    while count < streams.count {
      let stream = streams[count]
      count += 1
      if Self.process(stream, on: loop, isLast: false) { return true }
    }
    return false
  }
}

/// Where a stream leaves its handler for a worker.
///
/// ```
///   closed ──a worker has the stream process──> open ──its handler starts──> filled ──the worker runs it──> closed
///      ^─────────────────no handler──────────────┘
/// ```
enum HandlerHandoff {
  case closed
  case open(ObjectIdentifier)
  case filled(HandlerOperation<Void>, any LoopServerStream)

  @inline(__always)
  mutating func open(for stream: StreamEntry) {
    // Otherwise a worker inside the work of another one's stream runs that stream's handler first.
    if case .closed = self { self = .open(ObjectIdentifier(stream)) }
  }

  /// Takes a handler if a worker waits for that of this stream. Others, which something calls while the stream does its
  /// work, start at once.
  mutating func take(_ handler: HandlerOperation<Void>, of stream: any LoopServerStream) -> Bool {
    guard case .open(let expected) = self, expected == ObjectIdentifier(stream) else { return false }
    self = .filled(handler, stream)
    return true
  }

  /// Returns whether there is a handler to run. If there is none, no worker waits any more.
  @inline(__always)
  mutating func close() -> Bool {
    if case .filled = self { return true }
    self = .closed
    return false
  }

  mutating func give() -> (HandlerOperation<Void>, any LoopServerStream)? {
    guard case .filled(let handler, let stream) = self else { return nil }
    self = .closed
    return (handler, stream)
  }
}

extension HandlerOperation {
  func startTask(on loop: Loop) -> Task<Result, any Error> {
    Task.immediate(executorPreference: loop, operation: run)
  }

  func makeTask(on executor: any TaskExecutor) -> Task<Result, any Error> {
    Task(executorPreference: executor, operation: run)
  }

  /// Runs it in the task of the caller.
  @inline(__always)
  nonisolated(nonsending) func runHere() async {
    // A function of this type is called like one that may be isolated. But the compiler knows that this one is not, and
    // does not switch to the executor of its isolation first.
    let run = unsafeBitCast(run, to: (@Sendable () async throws -> Result).self)
    // It never throws.
    _ = try? await run()
  }
}
