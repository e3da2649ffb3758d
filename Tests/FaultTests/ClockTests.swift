import TestSupport
import Testing

/// The time of day jumps by years in both directions: deadlines, backoff and tokens are not affected, and certificates
/// are checked against the new date. `FaultSubject` runs the scenarios with its own clock.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ClockTests {
  @Test func onlyCertificatesDependOnTheTimeOfDay() throws {
    let subject = try ChildProcess.faultSubject(["clock"])
    #expect(
      subject.allOutput() == """
        years later: 10
        after a jump forward: ok (0): OK
        calls that its deadline ended: 0
        a deadline after a jump back: deadline exceeded (4)
        the long call: cancelled (1)
        nobody there: unavailable (14)
        connected anew after a jump back: ok (0): OK
        tokens: token 1
        TLS: ok (0): OK
        a connection that is open: ok (0): OK
        another: unavailable (14): TLS: the certificate of 127.0.0.1 was rejected: certificate has expired
        the same, with the time right again: ok (0): OK
        a connection that is open: ok (0): OK
        another: unavailable (14): TLS: the certificate of 127.0.0.1 was rejected: certificate is not yet valid
        the same, with the time right again: ok (0): OK

        """
    )
    #expect(subject.exitCode() == 0)
  }
}
