import Testing

@testable import SwitchboardTelemetry

/// Which calls get timelines.
@Suite struct CallKeepingTests {
  @Test func aHundredCallsInASecondGetTimelines() {
    let keeping = CallKeeping()
    let second: UInt64 = 1_000_000_000
    let start = 50 * second
    #expect((0..<1000).count { _ in keeping.takesTime(at: start) } == 101)
    #expect(!keeping.takesTime(at: start + 9_000_000))
    #expect(keeping.takesTime(at: start + 10_000_000))
    #expect((0..<1000).count { _ in keeping.takesTime(at: start + 3 * second) } == 101)
  }
}
