import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct SessionEndTests {
  @Test func thePeerIsAskedBetweenTheAnnouncements() {
    var end = SessionEnd()
    // Neither the answer to another ping nor the GOAWAY of a session that is not drained means anything.
    #expect(!end.wasAnswered() && !end.wasSent(0))
    end.begin()
    #expect(!end.wasAnswered() && end.wasSent(0) && !end.isFinal)
    #expect(end.wasAnswered() && end.isFinal)
    #expect(!end.wasSent(0) && !end.wasAnswered())
  }

  @Test func errorsAreKept() {
    var end = SessionEnd()
    end.begin()
    #expect(!end.wasSent(7) && end.errorSent == 7 && end.received == nil)
    #expect(end.wasSent(0) && end.errorSent == 7)
    end.wasReceived(0)
    #expect(end.received == 0)
  }
}
