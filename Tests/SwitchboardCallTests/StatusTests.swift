import SwitchboardCall
import Testing

@Suite struct StatusTests {
  @Test func printsAsTheTutorialDoes() {
    #expect("\(GRPCStatus.ok)" == "ok (0): OK")
    #expect("\(GRPCStatus.Code.ok)" == "ok (0)")
    #expect("\(GRPCStatus(code: .notFound))" == "not found (5)")
  }

  @Test func codeMessageAndDetailsCanBeChanged() {
    var status = GRPCStatus(code: .ok, message: "OK", origin: .peer)
    #expect(status == .ok)
    #expect(status.packedDetails == nil)
    status.packedDetails = [1, 2]
    #expect(status.message == "OK")
    #expect(status != .ok)
    var copy = status
    copy.message = nil
    #expect(copy.packedDetails == [1, 2])
    #expect(status.message == "OK")
    copy.packedDetails = nil
    #expect(copy == GRPCStatus(code: .ok))
    copy.message = ""
    #expect(copy.message?.isEmpty == true)
    // Whoever sets the message has made the status.
    #expect(copy.origin == .user)
    #expect(status.origin == .peer)
  }

  @Test func aStatusIsAtMostTwoWordsLong() {
    #expect(MemoryLayout<GRPCStatus>.size <= 16)
  }

  @Test func anyErrorHasAStatus() {
    struct Odd: Error {}
    #expect(GRPCStatus(describing: Odd()).code == .unknown)
    #expect(GRPCStatus(describing: CancellationError()).code == .cancelled)
    #expect(GRPCStatus(describing: GRPCStatus(code: .aborted)).code == .aborted)
  }

  @Test(arguments: [(400, 13), (401, 16), (403, 7), (404, 12), (429, 14), (503, 14), (500, 2)])
  func httpStatusesMapAsSpecified(_ pair: (http: Int, code: Int)) {
    #expect(GRPCStatus.Code(httpStatus: pair.http).rawValue == pair.code)
  }
}
