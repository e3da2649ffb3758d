import TestSupport
import Testing

/// The time of day jumps by years, both ways: deadlines, backoff and tokens do not care, and certificates are judged by the
/// day it is. What happens is in `FaultSubject`, whose clock is its own.
@Suite(.mayBlock, .timeLimit(.minutes(1))) struct ClockTests {
  @Test func onlyCertificatesMindTheTimeOfDay() throws {
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
        another: unavailable (14): TLS: the certificate of 127.0.0.1 is not accepted: certificate has expired
        the same, with the time right again: ok (0): OK
        a connection that is open: ok (0): OK
        another: unavailable (14): TLS: the certificate of 127.0.0.1 is not accepted: certificate is not yet valid
        the same, with the time right again: ok (0): OK

        """
    )
    #expect(subject.exitCode() == 0)
  }
}
