// unsafe: its task runs on the loop, which alone touches it; the task retains the stream that runs

import SwitchboardCall
import SwitchboardNetwork

/// Calls whose requests are ready together, and the task in which their handlers run one after the other.
///
/// A task costs a small call a tenth of its time. A handler that suspends has the task for itself from then on, and
/// another batch takes the calls that are left. Only then does anything outside know the task, so nothing that cancels a
/// call reaches the handler of another.
final class HandlerBatch: @unchecked Sendable {
  // Sendable because it is only used on the loop, where its task runs. Unchecked exclusivity holds for the same reason.

  private let loop: Loop
  @exclusivity(unchecked) private var streams: [StreamEntry] = []
  /// How many of the streams have been processed.
  @exclusivity(unchecked) private var count: Int
  /// The stream whose handler runs, which the task retains.
  @exclusivity(unchecked) private unowned(unsafe) var running: ServerCallStream?
  /// Its request, which its handler decodes before it suspends.
  @exclusivity(unchecked) private var request = SingleMessage.none
  /// Whether the task has suspended or ended.
  @exclusivity(unchecked) private var isOver = false

  fileprivate init(on loop: Loop, after count: Int) {
    self.loop = loop
    self.count = count
  }

  /// Processes streams until a handler suspends, or one of them shares no task. Returns how many have been processed.
  fileprivate func run(_ streams: inout [StreamEntry]) -> Int {
    swap(&streams, &self.streams)
    let task: Task<Void, any Error> = .immediate(executorPreference: loop) { await self.work() }
    loop.activity.begin(0)
    isOver = true
    request = .none
    // Its handler has suspended.
    running?.handlerRuns(task)
    swap(&streams, &self.streams)
    return count
  }

  private nonisolated(nonsending) func work() async {
    var last = LastChain()
    while let (stream, handler, request) = nextCall() {
      await handler.serve(consume stream, request, &last)
    }
  }

  private typealias Call = (stream: ServerCallStream, handler: MethodHandler, request: UnsafeRawBufferPointer)

  /// Lets streams go on, until one has a handler to run.
  private func nextCall() -> Call? {
    guard !isOver else { return nil }
    running = nil
    request = .none
    loop.activity.begin(0)
    while count < streams.count, !loop.hasWorkedEnough, let stream = streams[count] as? ServerCallStream,
      stream.canShareTask
    {
      // A handler can cancel its own task.
      guard !Task.isCancelled else { return nil }
      count += 1
      guard let (handler, request) = stream.beginIfWhole() else { continue }
      stream.handlersDidStart()
      running = stream
      loop.activity.begin(stream.head.method?.mark ?? 0)
      self.request = request
      return (stream, handler, request.unsafeBytes)
    }
    return nil
  }
}

extension ServerConnection {
  /// Serves streams whose requests are whole in batches, and lets the others go on.
  func process(_ streams: inout [StreamEntry]) -> Int {
    var count = 0
    while count < streams.count, !loop.hasWorkedEnough {
      if let stream = streams[count] as? ServerCallStream, stream.canShareTask {
        count = HandlerBatch(on: loop, after: count).run(&streams)
      } else {
        Unmanaged.passUnretained(streams[count]).withStream { $0.processReady() }
        count += 1
      }
    }
    return count
  }
}
