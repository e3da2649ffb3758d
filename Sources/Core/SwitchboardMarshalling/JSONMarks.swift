import SwitchboardText

/// Finds text in JSON that takes Foundation's coders long: they make a dictionary of the members of each object.
enum JSONMarks {
  /// Whether a text has more combining marks in a row than a key may have, as they are or as escapes; or whether the bytes
  /// are not UTF-8, which Foundation would convert.
  static func areTooMany(in json: [UInt8]) -> Bool {
    var mayHaveMarks = false
    for byte in json {
      // Every other encoding of JSON has zeros.
      if byte == 0 { return true }
      if byte >= 0x80 || byte == UInt8(ascii: "\\") { mayHaveMarks = true }
    }
    guard mayHaveMarks else { return false }
    var run = MarkRun()
    var scalars = String(decoding: json, as: UTF8.self).unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      if run.isTooLong(with: scalar == "\\" ? escaped(&scalars) : scalar) { return true }
    }
    return false
  }

  private typealias Scalars = String.UnicodeScalarView.Iterator

  /// The character of an escape, whose backslash was read; a backslash for one that is not a mark.
  private static func escaped(_ scalars: inout Scalars) -> Unicode.Scalar {
    guard scalars.next() == "u", let unit = hexDigits(&scalars) else { return "\\" }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    // Anything but the other half of a pair is not valid, so it does not matter what is read of it.
    guard 0xD800..<0xDC00 ~= unit, scalars.next() == "\\", scalars.next() == "u",
      let second = hexDigits(&scalars), 0xDC00..<0xE000 ~= second
    else { return "\\" }
    return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00)) ?? "\\"
  }

  private static func hexDigits(_ scalars: inout Scalars) -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = scalars.next().flatMap({ Character($0).hexDigitValue }) else { return nil }
      value = value << 4 | UInt32(digit)
    }
    return value
  }
}
