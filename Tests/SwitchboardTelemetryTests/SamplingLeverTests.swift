import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardTransport
import Testing

@testable import SwitchboardTelemetry

/// Another share of a method's traces, for some time.
@Suite(.timeLimit(.minutes(5))) struct SamplingLeverTests {
  /// The telemetry's time.
  private final class Clock: Sendable {
    private let nanoseconds = Locked<UInt64>(1)
    var now: UInt64 { nanoseconds.withLock { $0 } }
    func advance(by time: UInt64) { nanoseconds.withLock { $0 += time } }
  }

  private let clock = Clock()
  private let exporter = CapturingExporter()
  private let method = MethodDescriptor(service: "a.B", method: "C", type: .unary)
  private let other = MethodDescriptor(service: "a.B", method: "D", type: .unary)

  private func telemetry(_ change: (inout TelemetryOptions) -> Void) throws -> Telemetry {
    try Telemetry.capturing(exporter, clock: TelemetryClock { [clock] in clock.now }, change)
  }

  private func isRecorded(_ method: MethodDescriptor, _ telemetry: Telemetry, parent: SpanIdentity = .none)
    throws -> Bool
  {
    let observer = try #require(telemetry.observer() as? any TelemetryObserver)
    let tracer = observer.serverTracer(on: try LoopGroup().nextLoop(), peer: "")
    var stamp = CallStamp()
    return tracer.callStarted(method, [:], number: nil, parent, &stamp) != nil
  }

  @Test func aMethodIsRecordedForAWhile() async throws {
    let telemetry = try telemetry { $0.sampler = .parentBased(.never) }
    #expect(try !isRecorded(method, telemetry))
    #expect(telemetry.setSampling(ofPath: "/a.B/C", to: 1, for: .seconds(60)))
    #expect(try isRecorded(method, telemetry))
    #expect(try !isRecorded(other, telemetry))
    #expect(telemetry.pulledSampling.map(\.path) == ["/a.B/C"])
    clock.advance(by: 60_000_000_001)
    #expect(telemetry.pulledSampling.isEmpty)
    #expect(try !isRecorded(method, telemetry))
    #expect(!telemetry.parts.levers.arePulled)
    await telemetry.shutDown()
  }

  @Test func whatCallersHaveDecidedDoesNotCountMeanwhile() async throws {
    let telemetry = try telemetry { $0.sampler = .parentBased(.always) }
    let ids = telemetry.parts.tracer?.ids ?? IDGenerator()
    var source = ids.forSpan()
    let unsampled = SpanIdentity(source.traceID(), source.spanID(), isSampled: false)
    #expect(try !isRecorded(method, telemetry, parent: unsampled))
    #expect(telemetry.setSampling(ofPath: "/a.B/C", to: 1, for: .seconds(60)))
    #expect(try isRecorded(method, telemetry, parent: unsampled))
    #expect(telemetry.setSampling(ofPath: "/a.B/C", to: 0, for: .seconds(60)))
    #expect(try !isRecorded(method, telemetry))
    #expect(telemetry.setSampling(ofPath: "/a.B/C", to: nil, for: .zero))
    #expect(try isRecorded(method, telemetry))
    await telemetry.shutDown()
  }

  @Test func callsOfChannelsAreRecordedToo() async throws {
    let telemetry = try telemetry { $0.sampler = .never }
    var options = ChannelOptions()
    options.observer = telemetry.observer()
    try await withChannel(to: [TracedEcho { _ in }], channel: options) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      _ = try await client.get(.with { $0.text = "unrecorded" })
      #expect(telemetry.setSampling(ofPath: "/echo.Echo/Get", to: 1, for: .seconds(60)))
      _ = try await client.get(.with { $0.text = "recorded" })
    }
    await telemetry.flush()
    #expect(exporter.spans.filter { $0.state.name.hasPrefix("Sent.") }.count == 1)
    await telemetry.shutDown()
  }

  @Test func theirNumberIsBounded() async throws {
    let telemetry = try telemetry { _ in }
    for number in 0..<SamplingLevers.most {
      #expect(telemetry.setSampling(ofPath: "/a.B/\(number)", to: 1, for: .seconds(60)))
    }
    #expect(!telemetry.setSampling(ofPath: "/a.B/last", to: 1, for: .seconds(60)))
    #expect(telemetry.setSampling(ofPath: "/a.B/0", to: 0.5, for: .seconds(60)))
    clock.advance(by: 61_000_000_000)
    #expect(telemetry.setSampling(ofPath: "/a.B/last", to: 1, for: .seconds(60)))
    await telemetry.shutDown()
  }
}
