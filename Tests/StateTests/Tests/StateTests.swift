import TestSupport
import Testing

/// A fixed part of `scripts/test/states`, for every test run.
@Suite(.mayBlock) struct StateTests {
  @Test(arguments: StateCheck.Role.allCases) func callsMatchTheirModel(_ role: StateCheck.Role) throws {
    let seed = StateCheck.chosen("STATE_SEED") ?? 1
    let calls = Int(clamping: StateCheck.chosen("STATE_CALLS") ?? 5000)
    #expect(throws: Never.self) { _ = try StateCheck.run(role, seed: seed, calls: calls) }
  }

  @Test(arguments: StateCheck.Role.allCases)
  func soTheyDoOnALoopThatPutsOffWhatItCan(_ role: StateCheck.Role) throws {
    #expect(throws: Never.self) { _ = try StateCheck.run(role, seed: 1, calls: 2000, hasTime: false) }
  }
}
