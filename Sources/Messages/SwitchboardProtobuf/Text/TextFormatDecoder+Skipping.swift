// Skips fields that the type does not know. Only the syntax of the value shows its kind.
extension TextFormatDecoder {
  /// Skips the value of a field whose name was read.
  mutating func skipValue() throws(DecodeError) {
    let hasColon = reader.take(":")
    guard hasColon || isAtBody else { throw reader.unexpected("':' or '{'") }
    try list { decoder throws(DecodeError) in
      if decoder.isAtBody {
        try decoder.skipMessage()
      } else if decoder.reader.isAtString {
        _ = try decoder.reader.bytes()
      } else {
        try decoder.reader.skipPlainValue()
      }
    }
  }

  private mutating func skipMessage() throws(DecodeError) {
    try nested { (decoder, end) throws(DecodeError) in
      while !decoder.reader.take(end) {
        if decoder.reader.isAt("[") {
          _ = try decoder.reader.bracketedName()
        } else if decoder.reader.identifier() == nil {
          throw decoder.reader.unexpected("a field name")
        }
        try decoder.skipValue()
        decoder.separator()
      }
    }
  }
}
