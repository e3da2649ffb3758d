import Testing

@testable import SwitchboardCall

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
    #expect(copy.origin == .peer)
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

  @Test(arguments: ["", "plain", "100%", "schön\n\u{1F600}", "a%20b", " ", " at both ends ", "\t"])
  func messagesRoundTrip(_ message: String) {
    let encoded = PercentEncoding.encode(message)
    #expect(encoded.allSatisfy { (0x20...0x7e).contains($0) })
    #expect(encoded.first != 0x20 && encoded.last != 0x20)
    #expect(PercentEncoding.decode(encoded) == message)
  }

  @Test func invalidEscapesAreKept() {
    #expect(PercentEncoding.decode(Array("50%, %4, %zz, %41".utf8)) == "50%, %4, %zz, A")
  }

  @Test(arguments: [(400, 13), (401, 16), (403, 7), (404, 12), (429, 14), (503, 14), (500, 2)])
  func httpStatusesMapAsSpecified(_ pair: (http: Int, code: Int)) {
    #expect(GRPCStatus.Code(httpStatus: pair.http).rawValue == pair.code)
  }
}

@Suite struct TimeoutTests {
  @Test(arguments: [
    ("1n", 1), ("5u", 5_000), ("20m", 20_000_000), ("3S", 3_000_000_000), ("2M", 120_000_000_000),
    ("1H", 3_600_000_000_000),
  ])
  func readsEveryUnit(_ pair: (text: String, nanoseconds: UInt64)) {
    #expect(GRPCTimeout(Array(pair.text.utf8))?.nanoseconds == pair.nanoseconds)
  }

  @Test(arguments: ["", "S", "1", "123456789S", "-1S", "1x", "1.5S", " 1S"])
  func malformedTimeoutsAreRejected(_ text: String) {
    #expect(GRPCTimeout(Array(text.utf8)) == nil)
  }

  @Test func theLongestTimeoutDoesNotOverflow() {
    #expect(GRPCTimeout(Array("99999999H".utf8))?.nanoseconds == .max)
  }

  @Test(arguments: [
    (1, "1n"), (99_999_999, "99999999n"), (100_000_001, "100001u"), (60_000_000_000, "60000000u"),
    (UInt64.max, "5124096H"),
  ])
  func writesTheFinestUnitThatFits(_ pair: (nanoseconds: UInt64, text: String)) {
    #expect(String(decoding: GRPCTimeout(nanoseconds: pair.nanoseconds).encoded, as: UTF8.self) == pair.text)
  }
}
