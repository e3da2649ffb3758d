/// A buffer for output in the text format: tokens and line breaks.
public struct TextFormatWriter {
  /// The text written so far, in UTF-8.
  private(set) var bytes: [UInt8] = []
  private let isSingleLine: Bool
  /// The most bytes of the text: what is written after them is lost.
  private let limit: Int
  private var indentation = 0

  init(singleLine: Bool, limit: Int) { (isSingleLine, self.limit) = (singleLine, limit) }

  /// Whether all that is written is lost.
  var isFull: Bool { bytes.count >= limit }

  /// The text written so far.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Writes text as it is: a number or a name.
  public mutating func literal(_ text: String) { append(text.utf8) }

  private mutating func append(_ more: some Collection<UInt8>) {
    if more.count <= limit - bytes.count { bytes += more } else { bytes += more.prefix(limit - bytes.count) }
  }

  // MARK: Layout

  /// Begins a field.
  mutating func name(_ name: String) {
    if !isSingleLine { append(repeatElement(UInt8(ascii: " "), count: 2 * indentation)) }
    literal(name)
  }

  /// Ends a field, or a line with a bracket. On a single line, fields are separated by a space.
  mutating func endLine() { append(isSingleLine ? UInt8(ascii: " ") : UInt8(ascii: "\n")) }

  /// Opens the braces of a message.
  mutating func open() {
    literal(" {")
    endLine()
    indentation += 1
  }

  /// Closes the braces of a message.
  mutating func close() {
    indentation -= 1
    name("}")
    endLine()
  }

  /// Removes the space after the last field on a single line.
  mutating func trim() {
    if isSingleLine, bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
  }

  // MARK: Quoted text

  /// Writes a string in quotes; characters outside ASCII are not escaped.
  public mutating func quoted(_ text: String) { quote(text.utf8, escapingAbove: 0xFF) }

  /// Writes bytes in quotes; those outside ASCII are escaped as octal numbers.
  public mutating func quoted(_ value: [UInt8]) { quote(value, escapingAbove: 0x7E) }

  private mutating func append(_ byte: UInt8) {
    if !isFull { bytes.append(byte) }
  }

  private mutating func quote(_ content: some Sequence<UInt8>, escapingAbove last: UInt8) {
    append(UInt8(ascii: "\""))
    for byte in content { escape(byte, above: last) }
    append(UInt8(ascii: "\""))
  }

  private mutating func escape(_ byte: UInt8, above last: UInt8) {
    switch byte {
    case UInt8(ascii: "\n"): literal("\\n")
    case UInt8(ascii: "\r"): literal("\\r")
    case UInt8(ascii: "\t"): literal("\\t")
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"):
      append([UInt8(ascii: "\\"), byte])
    case 0..<0x20, 0x7F: octal(byte)
    default: byte > last ? octal(byte) : append(byte)
    }
  }

  // Always three digits, because a digit of the text may follow.
  private mutating func octal(_ byte: UInt8) {
    let zero = UInt8(ascii: "0")
    append([UInt8(ascii: "\\"), zero + byte / 64, zero + byte / 8 % 8, zero + byte % 8])
  }
}
