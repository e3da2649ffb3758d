import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct ServerTraceTests {
  private final class Tracer: CallTracer {
    let ends = Locked(0)
    let wantsMessages: Bool

    init(wantsMessages: Bool) { self.wantsMessages = wantsMessages }

    func messageSent(_ byteCount: Int, compressed: Int?) {}
    func messageReceived(_ byteCount: Int) {}
    func ended(_ end: ObservedEnd, _ stamp: CallStamp) { ends.withLock { $0 += 1 } }
  }

  private final class Observer: CallObserver {
    let started = Locked<[String]>([])

    func callStarted(_ call: ObservedCall) -> (any Sendable)? {
      started.withLock { $0.append(call.method.path) }
      return nil
    }
    func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {}
  }

  private static let method = MethodDescriptor(service: "test.Trace", method: "Get", type: .unary)

  @Test(arguments: [false, true]) func messagesAreReportedIfTheTracerWantsThem(_ wantsMessages: Bool) {
    var trace = ServerTrace()
    let tracer = Tracer(wantsMessages: wantsMessages)
    #expect(trace.follow(Self.method, with: tracer, givesContext: true) == wantsMessages)
    #expect(trace.reportsMessages == wantsMessages && trace.hasContext && trace.tracer === tracer)
  }

  @Test func aLeanCallReportsNoMessages() {
    var trace = ServerTrace()
    trace.stamp.isLean = true
    let reports = trace.follow(Self.method, with: Tracer(wantsMessages: true), givesContext: false)
    #expect(!reports && !trace.reportsMessages && !trace.hasContext && trace.method != nil)
  }

  @Test func aPlainObserverIsToldAtOnce() {
    var trace = ServerTrace()
    let observer = Observer()
    let call = ObservedCall(method: Self.method, headers: [:], isServer: true)
    trace.follow(call, for: observer)
    #expect(observer.started.withLock { $0 } == [Self.method.path])
    #expect(trace.tracer != nil && !trace.reportsMessages && !trace.hasContext)
  }

  /// The tracer itself learns of the end of the call in another way.
  @Test func onlyAContextOfItsOwnIsEnded() {
    var trace = ServerTrace()
    let (tracer, context) = (Tracer(wantsMessages: false), Tracer(wantsMessages: false))
    _ = trace.follow(Self.method, with: tracer, givesContext: true)
    trace.endContext(tracer)
    trace.endContext(context)
    #expect(tracer.ends.withLock { $0 } == 0 && context.ends.withLock { $0 } == 1)
  }
}
