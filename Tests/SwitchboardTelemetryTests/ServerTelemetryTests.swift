import CallTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardTransport
import Testing

@testable import SwitchboardTelemetry

@Suite struct ServerTelemetryTests {
  /// What the handler adds to its span is in that of the call, and calls that it makes end with it.
  @Test(arguments: [false, true]) func aRecordedCallIsItsHandlersContext(isRecorded: Bool) async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.sampler = isRecorded ? .always : .never
    }
    let observer = try #require(telemetry.observer() as? any TelemetryObserver)
    let tracer = observer.serverTracer(on: try LoopGroup().nextLoop(), peer: "test")
    let method = MethodDescriptor(service: "a.B", method: "C", type: .unary)
    var stamp = CallStamp()
    let call = tracer.callStarted(method, [:], number: nil, SpanIdentity(), &stamp)
    let deadline = ManualTime().deadline(after: .seconds(1))
    let made = tracer.makeContext(of: call, [:], SpanIdentity(), stamp, deadline)
    let context = try #require(made.context as? CallContext)
    #expect((call != nil) == isRecorded && (context === call) == isRecorded)
    #expect((context.span != nil) == isRecorded && context.deadline?.time == deadline.time)
    await telemetry.shutDown()
  }
}
