import EchoService
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardTelemetry

/// One trace across processes, with PyPI's OpenTelemetry at both ends.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct PeerTraceTests {
  /// A span as the peer prints it, or as we record it.
  private struct Shown: Equatable {
    let trace: String
    let id: String
    let parent: String
  }

  private func spans(_ lines: [String]) -> [Shown] {
    lines.compactMap { line -> Shown? in
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 6, words[0] == "span" else { return nil }
      return Shown(trace: words[3], id: words[4], parent: words[5])
    }
  }

  private func shown(_ record: SpanRecord) -> Shown {
    Shown(
      trace: record.context.traceID.description,
      id: record.context.spanID.description,
      parent: record.parent?.description ?? "none"
    )
  }

  private func lines(of peer: PythonPeer) -> [String] {
    var lines: [String] = []
    while let line = peer.line() { lines.append(line) }
    return lines
  }

  @Test func aTraceGoesThroughGrpcioAndTwoOfOurServersToGrpcio() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let inner = try PythonPeer("telemetry_peer.py", ["inner"])
    let port = try #require(inner.line())
    var options = ChannelOptions()
    options.observer = telemetry.observer(passingOn: [.baggage, .metadata("tenant")])
    let last = Echo_EchoClient(channel: try Channel(target: "127.0.0.1:\(port)", options: options))
    var outerLines: [String] = []
    try await withEcho(TracedEcho(next: last), server: telemetry.observer(), client: options.observer) {
      middle,
      _ in
      try await withEcho(TracedEcho(next: middle), server: telemetry.observer(), client: nil) { _, target in
        outerLines = lines(of: try PythonPeer("telemetry_peer.py", ["outer", target]))
      }
    }
    await last.channel.shutDown(grace: .zero)
    await telemetry.flush()
    try #require(outerLines.contains("answer hello"))
    let headers = try #require(inner.line())
    #expect(headers == "headers tenant=blue red")
    let innerSpan = try #require(spans([inner.line() ?? ""]).first)
    inner.stop()
    let outerSpan = try #require(spans(outerLines).first)

    // Ours from the outside to the inside, each below the one before.
    var chain = [outerSpan]
    let names = ["Recv", "Sent", "Attempt", "Recv", "Sent", "Attempt"]
    for name in names {
      let next = exporter.spans.first {
        $0.state.name == "\(name).echo.Echo.Get" && shown($0).parent == chain.last?.id
      }
      chain.append(shown(try #require(next, "no \(name) below \(String(describing: chain.last))")))
    }
    #expect(innerSpan.parent == chain.last?.id)
    #expect(outerSpan.parent == "none")
    #expect(Set((chain + [innerSpan]).map(\.trace)).count == 1)
    #expect(exporter.spans.count == names.count)
    await telemetry.shutDown()
  }
}
