import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// The header `grpc-timeout`.
@Suite struct GRPCTimeoutTests {
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
