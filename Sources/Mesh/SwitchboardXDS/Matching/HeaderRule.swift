// unsafe: bytes of metadata that a call lends for one comparison

import SwitchboardBalancing
import SwitchboardCall

/// A rule for a field of a call's metadata (gRFC A28, A63).
struct HeaderRule: Hashable, Sendable {
  enum Test: Hashable, Sendable {
    case text(TextRule, ignoresCase: Bool)
    /// A whole number; the end is not part of it.
    case range(Range<Int64>)
    case present(Bool)
  }

  let field: MetadataField
  let test: Test
  let isInverted: Bool

  /// `name` is in lower case.
  init(name: [UInt8], test: Test, isInverted: Bool) {
    field = MetadataField(name: name)
    self.test = test
    self.isInverted = isInverted
  }

  private typealias Bytes = UnsafeBufferPointer<UInt8>

  func matches(_ metadata: HPACKHeaders) -> Bool {
    // A field that is missing matches no rule about its value, inverted or not.
    let result = withValue(in: metadata) { value in
      guard let value else { return Bool?.none }
      switch test {
      case .text(let rule, let ignoresCase): return rule.matches(value, ignoringCase: ignoresCase)
      case .range(let range): return Self.number(value).map(range.contains) ?? false
      case .present(let isWanted): return isWanted
      }
    }
    if case .present(let isWanted) = test { return (result ?? !isWanted) != isInverted }
    return result.map { $0 != isInverted } ?? false
  }

  /// Passes the value of the field to `body`.
  private func withValue<Result>(in metadata: HPACKHeaders, _ body: (Bytes?) -> Result) -> Result {
    if field.name.elementsEqual("content-type".utf8) {
      return Array("application/grpc".utf8).withUnsafeBufferPointer { body($0) }
    }
    // Binary fields are not matched.
    guard !field.name.suffix(4).elementsEqual("-bin".utf8) else { return body(nil) }
    return field.withValue(in: metadata, body)
  }

  /// A decimal number of 64 bits, with nothing around it.
  private static func number(_ text: Bytes) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = text.dropFirst(isNegative ? 1 : 0)
    guard (1...19).contains(digits.count) else { return nil }
    var number: Int64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      let (tens, tooLarge) = number.multipliedReportingOverflow(by: 10)
      let value = Int64(digit - UInt8(ascii: "0"))
      let (sum, overflows) = tens.addingReportingOverflow(isNegative ? -value : value)
      guard !tooLarge, !overflows else { return nil }
      number = sum
    }
    return number
  }
}
