import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// How often handlers have blocked their loops.
@Suite struct BlockedLoopMetricTests {
  @Test func blockedLoopsAreCountedByMethod() throws {
    let meters = ConnectionMeters(limit: 3)
    #expect(meters.collect().isEmpty)
    for method in ["shop.Shop/Find", "other", "shop.Shop/Find"] { meters.loopBlocked(by: method) }
    let family = try #require(meters.collect().first)
    #expect(family.descriptor.name == "switchboard.server.blocked_loops")
    #expect(
      family.points.map { "\($0.attributes[0].key) \($0.attributes[0].value) \($0.value)" } == [
        "grpc.method other int(1)", "grpc.method shop.Shop/Find int(2)",
      ]
    )
  }
}
