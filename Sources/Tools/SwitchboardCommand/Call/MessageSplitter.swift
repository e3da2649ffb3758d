import SwitchboardProtobuf

/// Splits a stream of bytes into messages as soon as each is complete, and records where each began.
struct MessageSplitter {
  /// A piece of the input.
  struct Piece: Hashable {
    let bytes: [UInt8]
    /// The position of its start, counted from 1. Columns count bytes.
    let line: Int
    let column: Int
  }

  private let format: CallVerb.Format
  private var pending: [UInt8] = []
  /// How many bytes of `pending` have been scanned.
  private var scanned = 0
  private var start = (line: 1, column: 1)
  private var position = (line: 1, column: 1)

  /// The JSON value that the cursor is in.
  private var value: JSONValueScanner?
  // In the text format, the start of the current line.
  private var lineStart = 0

  /// The size limit of a message. Almost all servers have a lower one.
  static let mostBytes = 256 << 20

  init(_ format: CallVerb.Format) { self.format = format }

  /// Adds bytes, and returns the messages that they complete.
  mutating func feed(_ bytes: [UInt8]) throws(Failure) -> [Piece] {
    pending += bytes
    var pieces: [Piece] = []
    switch format {
    case .json: splitJSON(&pieces)
    case .text: splitText(&pieces)
    }
    guard pending.count <= Self.mostBytes else {
      throw Failure(
        "the request that starts at line \(start.line) is larger than \(Self.mostBytes >> 20) MiB",
        code: .data
      )
    }
    return pieces
  }

  /// Returns the rest at the end of the input. In JSON, it may be an incomplete value, which the JSON reader rejects.
  mutating func finish() -> Piece? {
    let rest = Array(pending)
    pending = []
    let isBlank = rest.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return isBlank ? nil : Piece(bytes: rest, line: start.line, column: start.column)
  }

  // MARK: JSON

  private mutating func splitJSON(_ pieces: inout [Piece]) {
    // The end of the values that were returned. `pending` is trimmed once at the end, so that the rest is not moved for
    // each small value.
    var first = 0
    while scanned < pending.count {
      let byte = pending[scanned]
      guard let value else {
        advance(byte)
        if [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
          first = scanned
          start = position
        } else {
          self.value = JSONValueScanner(first: byte)
        }
        continue
      }
      // A number or a word ends before a byte that cannot be part of it.
      if value.isBare, " \t\n\r{[\"".utf8.contains(byte) {
        cut(&first, &pieces)
        continue
      }
      advance(byte)
      if !value.isBare, self.value?.isLast(byte) == true { cut(&first, &pieces) }
    }
    pending.removeFirst(first)
    scanned -= first
  }

  // MARK: Text

  /// Messages end at a line that contains only `---`, or at a record separator, as in grpcurl.
  private mutating func splitText(_ pieces: inout [Piece]) {
    var first = 0
    while scanned < pending.count {
      let byte = pending[scanned]
      if byte == 0x1E {
        cut(&first, &pieces)
        advance(byte)
        (first, start, lineStart) = (scanned, position, scanned)
        continue
      }
      advance(byte)
      guard byte == UInt8(ascii: "\n") else { continue }
      var line = pending[lineStart..<(scanned - 1)]
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.elementsEqual("---".utf8) {
        pieces.append(Piece(bytes: Array(pending[first..<lineStart]), line: start.line, column: start.column))
        (first, start) = (scanned, position)
      }
      lineStart = scanned
    }
    pending.removeFirst(first)
    scanned -= first
    lineStart -= first
  }

  // MARK: Places

  private mutating func advance(_ byte: UInt8) {
    scanned += 1
    if byte == UInt8(ascii: "\n") { position = (position.line + 1, 1) } else { position.column += 1 }
  }

  private mutating func cut(_ first: inout Int, _ pieces: inout [Piece]) {
    pieces.append(Piece(bytes: Array(pending[first..<scanned]), line: start.line, column: start.column))
    first = scanned
    start = position
    value = nil
  }
}
