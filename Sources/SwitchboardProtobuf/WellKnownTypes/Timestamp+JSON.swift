// In JSON: a string in RFC 3339 form.
extension Google_Protobuf_Timestamp: CustomJSON {
  public mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    let token = try decoder.reader.stringToken()
    let start = token.range.lowerBound - 1
    guard let time = RFC3339.parse(try decoder.reader.contents(of: token)) else {
      throw decoder.reader.fail("expected a time as in RFC 3339", at: start)
    }
    (seconds, nanos) = (time.seconds, time.nanos)
    guard isValid else { throw decoder.reader.fail("time out of range", at: start) }
  }

  public func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    guard isValid else {
      throw EncodeError(.unrepresentable("a Timestamp outside of the years 1 to 9999, or with wrong nanos"))
    }
    encoder.writer.string(RFC3339.text(seconds: seconds, nanos: nanos))
  }
}
