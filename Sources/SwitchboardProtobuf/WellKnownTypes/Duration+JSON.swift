// In JSON: a string with the seconds and an `s`.
extension Google_Protobuf_Duration: CustomJSON {
  public mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    let token = try decoder.reader.stringToken()
    let start = token.range.lowerBound - 1
    var scanner = TimeScanner(try decoder.reader.contents(of: token))
    let isNegative = scanner.take(UInt8(ascii: "-"))
    guard let whole = scanner.number(), let fraction = scanner.fraction(), scanner.take(UInt8(ascii: "s")),
      scanner.isAtEnd
    else { throw decoder.reader.fail("expected a duration such as \"1.5s\"", at: start) }
    seconds = isNegative ? -Int64(whole) : Int64(whole)
    nanos = isNegative ? -fraction : fraction
    guard isValid else { throw decoder.reader.fail("duration out of range", at: start) }
  }

  public func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    guard isValid else {
      throw EncodeError(.unrepresentable("a Duration of more than 10,000 years, or with wrong nanos"))
    }
    let sign = seconds < 0 || nanos < 0 ? "-" : ""
    encoder.writer.string("\(sign)\(seconds.magnitude)\(TimeText.fraction(abs(nanos)))s")
  }
}
