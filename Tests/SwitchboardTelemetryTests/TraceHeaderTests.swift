import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardTelemetry

/// Headers of traces as the specifications have them, and as nobody should send them.
@Suite struct TraceHeaderTests {
  private let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  private func context(_ fields: (String, String)...) -> SpanContext? {
    TraceHeaders(HPACKHeaders(fields)).context
  }

  @Test func aTraceParentIsReadAndWritten() throws {
    let read = try #require(
      context(("traceparent", valid), ("tracestate", "rojo=00f067aa0ba902b7, congo=t61"))
    )
    #expect(read.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(read.spanID.description == "00f067aa0ba902b7")
    #expect(read.isSampled && read.isRemote)
    #expect(read.traceState == "rojo=00f067aa0ba902b7,congo=t61")
    let written = read.traceParent
    #expect(written == valid)
  }

  @Test(arguments: [
    "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
    "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
    " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", String(repeating: "0", count: 8000),
  ]) func invalidTraceParentsAreIgnored(_ text: String) {
    #expect(context(("traceparent", text), ("tracestate", "a=b")) == nil)
  }

  @Test func laterVersionsMayHaveMore() {
    let rest = valid.dropFirst(2)
    #expect(context(("traceparent", "cc\(rest)")) != nil)
    #expect(context(("traceparent", "cc\(rest)-what-the-future-brings")) != nil)
    #expect(context(("traceparent", "cc\(rest).what")) == nil)
  }

  @Test func duplicateTraceParentsAreIgnored() {
    #expect(context(("traceparent", valid), ("traceparent", valid)) == nil)
  }

  @Test func theBinaryHeaderIsAFallback() throws {
    let written = SpanContext(
      traceID: TraceID(high: 1, low: 2),
      spanID: SpanID(3),
      isSampled: true
    )
    let binary = String(decoding: Base64.encode(TraceBin.bytes(written)), as: UTF8.self)
    let read = try #require(context(("grpc-trace-bin", binary)))
    #expect((read.traceID, read.spanID) == (written.traceID, written.spanID))
    #expect(read.isSampled)
    #expect(
      context(("grpc-trace-bin", binary), ("traceparent", valid))?.spanID.description == "00f067aa0ba902b7"
    )
    #expect(context(("grpc-trace-bin", binary), ("traceparent", "nonsense"))?.spanID == SpanID(3))
    for broken in ["", "AAAA", "!", String(repeating: "A", count: 40), String(repeating: "A", count: 9000)] {
      #expect(context(("grpc-trace-bin", broken)) == nil)
    }
  }

  @Test func traceStateIsBoundedAndValidated() {
    let long = (0..<40).map { "k\($0)=v" }.joined(separator: ",")
    #expect(TraceState.read([long]).split(separator: ",").count == 32)
    let wide = (0..<20).map { "k\($0)=\(String(repeating: "v", count: 100))" }.joined(separator: ",")
    #expect(TraceState.read([wide]).utf8.count <= TraceState.limit)
    #expect(TraceState.read(["a=1,b=2", "c=3"]) == "a=1,b=2,c=3")
    #expect(TraceState.read(["a=1,,b=2, "]) == "a=1,b=2")
    for broken in [
      "a", "A=1", "a=1,a=2", "a=\u{e9}", "=1", "a=", "a=b=c", String(repeating: "a", count: 9000),
    ] {
      #expect(TraceState.read([broken]).isEmpty)
    }
  }

  @Test func baggageIsBoundedAndKeepsWhatItDoesNotUnderstand() {
    let read = Baggage(fields: ["a = 1 ;p;q=2 , b=%41%zz,c=\"x\"", "a=again,d=\u{7f}"])
    #expect(read.names == ["a", "b"])
    #expect(read["b"] == "A%zz")
    #expect(read.header == "a=1;p;q=2,b=A%25zz")
    #expect(
      Baggage(fields: [(0..<200).map { "k\($0)=v" }.joined(separator: ",")]).names.count
        == Baggage.mostMembers
    )
    #expect(Baggage(fields: [String(repeating: "a", count: 10_000)]).isEmpty)
    let large = Baggage().setting("a", to: String(repeating: "x", count: 9000)).setting("b c", to: "x")
    #expect(large.isEmpty)
    // What does not fit leaves what was there.
    let small = Baggage().setting("a", to: "1")
    #expect(small.setting("a", to: String(repeating: "x", count: 9000)) == small)
    let full = Baggage(fields: [(0..<Baggage.mostMembers).map { "k\($0)=v" }.joined(separator: ",")])
    #expect(full.setting("one more", to: "v") == full && full.setting("another", to: "v") == full)
    #expect(full.setting("k0", to: "changed")["k0"] == "changed")
    #expect(Baggage().setting("a", to: "1").setting("a", to: nil).isEmpty)
  }

  @Test(arguments: ["%ff", "%zz", "%"]) func invalidEscapesDoNotEnlargeBaggage(_ piece: String) {
    let value = String(repeating: piece, count: 100)
    let fields = (0..<60).map { "k\($0)=\(value)" }
    let size = fields.reduce(0) { $0 + $1.utf8.count }
    let read = Baggage(fields: fields)
    #expect(!read.isEmpty && read.header.utf8.count <= Baggage.limit, "\(size)")
  }

  @Test func duplicateBinaryHeadersAreIgnored() {
    let bytes: [UInt8] = [0, 0] + Array(1...16) + [1] + Array(1...8) + [2, 1]
    var headers = HPACKHeaders()
    headers.add(name: "grpc-trace-bin", binary: bytes)
    #expect(TraceHeaders(headers).context != nil)
    headers.add(name: "grpc-trace-bin", binary: bytes)
    #expect(TraceHeaders(headers).context == nil)
  }

  @Test func samplingDependsOnTheTraceID() {
    let ids = IDGenerator(seed: 7)
    let traces = (0..<20_000).map { _ in ids.traceID() }
    #expect(Set(traces).count == traces.count)
    let tenth = traces.filter { Sampler.ratio(0.1).samples($0, parent: nil) }
    #expect((1700..<2300).contains(tenth.count))
    #expect(tenth.allSatisfy { Sampler.ratio(0.5).samples($0, parent: nil) })
    #expect(!traces.contains { Sampler.ratio(0).samples($0, parent: nil) })
    #expect(traces.allSatisfy { Sampler.ratio(1).samples($0, parent: nil) })
    // Shares that there cannot be.
    #expect(traces.allSatisfy { Sampler.ratio(2).samples($0, parent: nil) })
    for share in [-1, -Double.infinity, .nan] {
      #expect(!traces.contains { Sampler.ratio(share).samples($0, parent: nil) })
    }
  }

  @Test func parentsDecideForTheirChildren() {
    let trace = TraceID(high: 1, low: 1)
    let sampled = SpanContext(traceID: trace, spanID: SpanID(1), isSampled: true, isRemote: true)
    let unsampled = SpanContext(traceID: trace, spanID: SpanID(1), isSampled: false, isRemote: true)
    #expect(Sampler.parentBased(.never).samples(trace, parent: sampled))
    #expect(!Sampler.parentBased(.always).samples(trace, parent: unsampled))
    #expect(Sampler.parentBased(.always).samples(trace, parent: nil))
  }
}

extension Sampler {
  fileprivate func samples(_ traceID: TraceID, parent: SpanContext?) -> Bool {
    SamplingRule(self).samples(traceID, parent?.identity ?? .none)
  }
}
