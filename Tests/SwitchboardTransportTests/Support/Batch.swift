import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A service whose handler a test gives, and what its calls did.
final class Batch: CallHandlerProvider {
  private typealias Kind = FramePeer.Kind
  typealias Interceptors = @Sendable () -> [ServerInterceptor<[UInt8], [UInt8]>]
  typealias Handler = @Sendable (Batch, UInt8, ServerCallContext) async throws -> [UInt8]

  @TaskLocal static var local: UInt8 = 0
  static let get = MethodDescriptor(service: "test.Batch", method: "Get", type: .unary)

  private struct State {
    var started: [(number: UInt8, task: KeptTask)] = []
    var cancelled: [UInt8] = []
  }

  let released = Signal()
  let left = Locked<UInt8?>(nil)
  private let state = Locked(State())
  private let interceptors: Interceptors?
  private let handler: Handler

  init(_ interceptors: Interceptors? = nil, _ handler: @escaping Handler) {
    self.interceptors = interceptors
    self.handler = handler
  }

  var serviceName: String { "test.Batch" }

  var methodHandlers: [MethodHandler] {
    [
      Self.get.bytes.unaryHandler(interceptors: interceptors) {
        request,
        context in
        let number = request.first ?? 255
        let task = KeptTask()
        self.state.withLock { $0.started.append((number, task)) }
        return try await self.handler(self, number, context)
      }
    ]
  }

  /// Waits until it is cancelled or all are released.
  func hang(_ number: UInt8) async throws -> [UInt8] {
    let end = Signal()
    let released = released
    await withTaskCancellationHandler {
      let waiting = Task {
        await released.wait()
        end.fire()
      }
      await end.wait()
      waiting.cancel()
    } onCancel: {
      self.state.withLock { $0.cancelled.append(number) }
      end.fire()
    }
    return [number]
  }

  var started: [(number: UInt8, task: KeptTask)] { state.withLock { $0.started } }
  var cancelled: [UInt8] { state.withLock { $0.cancelled.sorted() } }

  func until(_ condition: ([(number: UInt8, task: KeptTask)]) -> Bool) async {
    while !Task.isCancelled, !condition(started) { await Task.yield() }
  }

  func untilCancelled(_ condition: ([UInt8]) -> Bool) async {
    while !Task.isCancelled, !condition(cancelled) { await Task.yield() }
  }

  // MARK: The calls

  /// Serves this many calls that arrive in one read, the first with the request 0, and passes what they recorded.
  static func with(
    _ count: Int,
    _ options: ServerOptions = ServerOptions(),
    on group: LoopGroup? = nil,
    interceptors: Interceptors? = nil,
    headers: [(String, String)] = [],
    handling handler: @escaping Handler,
    then body: (FramePeer, Batch, Server) async throws -> Void
  ) async throws {
    let batch = Batch(interceptors, handler)
    let loops = try group ?? LoopGroup()
    await loops.takeTime()
    try await withServer([batch], options: options, group: loops) { server, address async throws in
      let peer = try FramePeer(address)
      try #require(peer.settle())
      let calls = (0..<count).map { number in
        let head = FramePeer.block(FramePeer.request("/test.Batch/Get", [("number", "\(number)")] + headers))
        return FramePeer.frame(Kind.headers, 4, stream(number), head)
          + FramePeer.frame(Kind.data, 1, stream(number), [0, 0, 0, 0, 1, UInt8(number)])
      }
      peer.write(calls.flatMap { $0 })
      defer { batch.released.fire() }
      try await body(peer, batch, server)
    }
  }

  static func stream(_ number: Int) -> UInt32 { UInt32(2 * number + 1) }

  /// The answers to calls, by their number, as they arrive: `nil` if a call failed.
  static func answers(_ peer: FramePeer, _ count: Int) -> [Int: [UInt8]] {
    var answers: [Int: [UInt8]] = [:]
    var ended = 0
    while ended < count, let frame = peer.next() {
      let number = Int(frame.stream) / 2
      if frame.type == Kind.data { answers[number] = Array(frame.payload.dropFirst(5)) }
      if frame.type == Kind.headers, frame.endsStream { ended += 1 }
    }
    return answers
  }
}

/// A task, which is kept, so that its address does not become another one's.
struct KeptTask: Hashable, @unchecked Sendable {
  // Sendable because it is only compared.

  private let object: AnyObject?

  /// The task that runs.
  init() { object = withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: AnyObject.self) } } }

  static func == (one: KeptTask, other: KeptTask) -> Bool { one.object === other.object }

  func hash(into hasher: inout Hasher) { hasher.combine(object.map(ObjectIdentifier.init)) }
}

extension LoopGroup {
  /// Lets a turn of each loop take as long as it likes: what arrives together is then served together, also on a machine
  /// that is busy.
  func takeTime() async {
    for loop in loops { await loop.onLoop { loop.work.limit = .max } }
  }
}
