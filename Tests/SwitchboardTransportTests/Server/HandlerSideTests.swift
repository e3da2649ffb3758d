import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct HandlerSideTests {
  private static let unsendable: HPACKHeaders = ["a": "line\nbreak"]

  @Test func aHandlerThatChoosesNothingLeavesNothing() {
    let side = HandlerSide()
    side.withState { $0.userInfo = UserInfo() }
    let end = side.takeForEnd(beforeHeaders: true)
    #expect(end.failure == nil && end.headers == nil && end.trailers == nil && end.compression == .none)
  }

  @Test func theEndOfTheCallGetsWhatWasChosen() {
    let side = HandlerSide()
    side.choose { $0.headers = ["a": "b"] }
    side.choose { $0.trailers = ["c": "d"] }
    side.choose { $0.compression = .gzip }
    let end = side.takeForEnd(beforeHeaders: true)
    #expect(end.failure == nil && end.headers == ["a": "b"] && end.trailers == ["c": "d"])
    #expect(end.compression == .gzip)
  }

  /// Headers that have left do not matter, and what cannot be sent fails the call only once.
  @Test func metadataThatCannotBeSentFailsTheCallOnce() {
    let side = HandlerSide()
    side.choose { $0.headers = Self.unsendable }
    #expect(side.takeForEnd(beforeHeaders: false).failure == nil)
    #expect(side.takeForEnd(beforeHeaders: true).failure != nil)
    #expect(side.takeForEnd(beforeHeaders: true).failure == nil)
    side.choose { $0.trailers = Self.unsendable }
    #expect(side.takeForEnd(beforeHeaders: false).failure != nil)
    #expect(side.takeForEnd(beforeHeaders: false).trailers == nil)
  }

  @Test func theFirstEndCounts() {
    let side = HandlerSide()
    #expect(side.outcome == nil)
    side.put(HandlerSide.Outcome(nil, GRPCStatus(code: .aborted)))
    side.put(HandlerSide.Outcome(nil, .ok))
    #expect(side.outcome?.status?.code == .aborted)
  }

  @Test func closingReturnsWhatIsToEnd() {
    let side = HandlerSide()
    let pipe = MessagePipe(limit: 1)
    side.choose { $0.responses = pipe }
    #expect(!side.isClosed && !side.isCancelled)
    #expect(side.close(hasContext: true).responses === pipe)
    #expect(side.isClosed && !side.isCancelled)
    side.cancel()
    #expect(side.isClosed && side.isCancelled)
  }

  @Test func fieldsAreAddedToThoseThatAreThere() {
    var headers: HPACKHeaders?
    headers = headers.adding(["a": "b"])
    #expect(headers == ["a": "b"] && headers.adding(["a": "c"])["a"] == ["b", "c"])
  }
}
