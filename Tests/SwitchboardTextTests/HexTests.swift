import SwitchboardText
import Testing

@Suite struct HexTests {
  private let digits = Array("0123456789abcdef".utf8)

  @Test func digitsHaveValues() {
    for (value, digit) in zip(UInt8(0)..., digits) {
      let upper = UInt8(ascii: Unicode.Scalar(String(UnicodeScalar(digit)).uppercased()) ?? " ")
      #expect(Hex.lower(value) == digit && Hex.upper(value) == upper)
      #expect(Hex.value(digit) == value && Hex.value(upper) == value)
      #expect(Hex.lowerValue(digit) == value)
      #expect(Hex.lowerValue(upper) == (value < 10 ? value : nil))
    }
  }

  @Test func nothingElseHas() {
    let upper = Array("ABCDEF".utf8)
    for byte in UInt8.min...UInt8.max where !(digits + upper).contains(byte) {
      #expect(Hex.value(byte) == nil)
    }
  }

  @Test(arguments: [0, 1, 0x0123_4567_89ab_cdef, .max] as [UInt64]) func numbersRoundTrip(_ number: UInt64) {
    let text = Hex.text(number)
    #expect(text.utf8.count == 16)
    #expect(Hex.lowerNumber(text.utf8) == number)
    #expect(UInt64(text, radix: 16) == number)
  }

  @Test func digitsOfEitherCaseAreNumbers() {
    #expect(Hex.number("0aF".utf8) == 0xaf)
    for text in ["", "-1", "+1", "0x1", "g"] { #expect(Hex.number(text.utf8) == nil) }
  }

  @Test func traceHeadersHaveNoUpperCase() { #expect(Hex.lowerNumber("0A".utf8) == nil) }
}
