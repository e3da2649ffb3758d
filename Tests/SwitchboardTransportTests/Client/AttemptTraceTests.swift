import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct AttemptTraceTests {
  private final class Tracer: AttemptTracer {
    let wantsMessages = true
    let addsHeaders = true
    let identity: SpanIdentity?

    init(_ identity: SpanIdentity?) { self.identity = identity }

    func traceParent(_ stamp: CallStamp) -> SpanIdentity? { identity }
    func writeHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void) {}
    func messageSent(_ byteCount: Int, compressed: Int?) {}
    func messageReceived(_ byteCount: Int) {}
    func pickWasDelayed() {}
    func serverPicked(_ name: String, _ labels: [String: String]) -> any AttemptTracer { self }
    func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer { self }
    func ended(_ end: ObservedEnd, _ stamp: CallStamp) {}
  }

  private static func identity(_ digit: String) -> SpanIdentity? {
    let text = "00-4bf92f3577b34da6a3ce929d0e0e473\(digit)-00f067aa0ba902b7-01"
    return Array(text.utf8).withUnsafeBytes { SpanIdentity(text: $0) }
  }

  private func stamp(isLean: Bool = false) throws -> CallStamp {
    var stamp = CallStamp()
    stamp.isLean = isLean
    stamp.identity = try #require(Self.identity("1"))
    return stamp
  }

  @Test func anAttemptWithoutAnIdentityAddsNothing() {
    var trace = AttemptTrace()
    trace.followStamp(CallStamp())
    #expect(!trace.addsTraceParent && !trace.addsHeaders && !trace.reportsMessages && !trace.isLean)
  }

  @Test func aLeanAttemptSendsTheCallsIdentity() throws {
    let stamp = try stamp(isLean: true)
    var trace = AttemptTrace()
    trace.followLeanly(stamp)
    #expect(trace.isLean && trace.addsTraceParent && trace.tracer == nil)
    #expect(trace.traceParentNow(stamp)?.text == stamp.identity.text)
    let tracer = Tracer(Self.identity("2"))
    trace.follow(tracer, stamp)
    #expect(!trace.isLean && !trace.reportsMessages && trace.tracer === tracer)
    #expect(trace.traceParentNow(stamp)?.text == stamp.identity.text)
  }

  @Test func aTracersWishesAreKept() throws {
    let stamp = try stamp()
    let tracer = Tracer(Self.identity("2"))
    var trace = AttemptTrace()
    trace.follow(tracer, stamp)
    #expect(trace.addsHeaders && trace.addsTraceParent && trace.reportsMessages)
    #expect(trace.traceParentNow(stamp)?.text == tracer.identity?.text)
    #expect(trace.end() === tracer && trace.end() == nil)
    trace.follow(Tracer(nil), stamp)
    #expect(!trace.addsTraceParent)
  }

  @Test func anAnnouncedHeaderComesLaterAndOnce() throws {
    let stamp = try stamp()
    var trace = AttemptTrace()
    trace.followStamp(stamp)
    trace.announce(true)
    #expect(trace.traceParentNow(stamp) == nil)
    #expect(trace.takeTraceParent(stamp)?.text == stamp.identity.text)
    #expect(trace.takeTraceParent(stamp) == nil && trace.traceParentNow(stamp) != nil)
  }
}
