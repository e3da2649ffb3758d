import CallTestSupport
import Dispatch
import ServerTestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A connection counts the handlers that run for it.
@Suite(.timeLimit(.minutes(5))) struct HandlerCountTests {
  /// Both handlers return before the loop learns of the first.
  @Test func handlersThatReturnConcurrentlyAreCounted() async throws {
    var options = ServerOptions()
    options.handlerPlacements.standard = .executor(JoinedThread())
    let group = try LoopGroup()
    try await withPair([Repeated()], options: options, group: group) { pair async throws in
      let (server, channel) = (pair.server, pair.channel)
      #expect(try await channel.call(Repeated.get).unary([1]) == [1])
      let running = await group.loops[0].find { server.core.connections.map(\.runningHandlers) }
      #expect(running == [0])
    }
  }
}

/// Runs each job on another thread, and returns when the job has.
private final class JoinedThread: TaskExecutor {
  private let queue = DispatchQueue(label: "handlers")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let done = DispatchSemaphore(value: 0)
    queue.async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
      done.signal()
    }
    done.wait()
  }
}

/// A service whose interceptor passes each call to the handler twice.
private struct Repeated: CallHandlerProvider {
  static let get = MethodDescriptor(service: "test.Repeated", method: "Get", type: .unary)

  var serviceName: String { "test.Repeated" }

  var methodHandlers: [MethodHandler] {
    [Self.get.bytes.unaryHandler(interceptors: { [Repeating()] }, { request, _ in request })]
  }
}

private final class Repeating: ServerInterceptor<[UInt8], [UInt8]> {
  private var parts: [GRPCServerRequestPart<[UInt8]>] = []

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    parts.append(part)
    guard case .end = part else { return }
    for part in parts + parts { context.receive(part) }
  }
}
