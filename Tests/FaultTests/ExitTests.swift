import TestSupport
import Testing

/// What happens as a process ends.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ExitTests {
  @Test func openSSLDoesNotCleanUpUnderALoop() throws {
    let subject = try ChildProcess.faultSubject(["exit"])
    #expect(subject.allOutput() == "ready\n")
    #expect(subject.exitCode() == 0)
  }
}
