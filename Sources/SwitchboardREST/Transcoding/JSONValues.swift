import Switchboard

/// Cuts a stream of bytes into JSON values: one after the other, such as one on each line, or the elements of an array.
///
/// It finds only where values end; what is inside is read later. Each byte is looked at once.
struct JSONValues {
  private enum Place {
    /// Before a value. An array may begin only at the start.
    case start, between
    /// In an object or array.
    case nested(Int)
    /// In a number, a word or a string outside of those.
    case bare
    case afterEnd
  }

  /// The largest value.
  let limit: Int
  private var place = Place.start
  private var value: [UInt8] = []
  private var isInArray = false
  private var isInString = false
  private var isEscaped = false

  init(limit: Int) { self.limit = limit }

  /// Reads a piece up to the end of a value, which is `nil` if none ends in it, and counts the bytes that it read.
  mutating func next(in piece: some Sequence<UInt8>) throws(GRPCStatus) -> (value: [UInt8]?, count: Int) {
    var count = 0
    for byte in piece {
      count += 1
      if try take(byte) { return (takeValue(), count) }
    }
    return (nil, count)
  }

  /// The last value, if nothing ends it but the end of the bytes.
  mutating func end() throws(GRPCStatus) -> [UInt8]? {
    let isComplete = if case .bare = place { !isInString } else { false }
    if isComplete { place = .between }
    switch place {
    case .nested, .bare: throw .invalid("the body ends inside a value")
    case .start, .between: guard !isInArray else { throw .invalid("the body ends inside an array") }
    case .afterEnd: break
    }
    return isComplete ? takeValue() : nil
  }

  private mutating func takeValue() -> [UInt8] {
    defer { value = [] }
    return value
  }

  /// Whether a value has ended.
  private mutating func take(_ byte: UInt8) throws(GRPCStatus) -> Bool {
    if isInString { return try inString(byte) }
    let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
    switch place {
    case .start where byte == UInt8(ascii: "["):
      isInArray = true
      place = .between
    case .start, .between:
      if isSpace || isInArray && byte == UInt8(ascii: ",") { return false }
      if isInArray, byte == UInt8(ascii: "]") {
        place = .afterEnd
      } else {
        try begin(byte)
      }
    case .nested(let depth):
      try add(byte)
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): place = .nested(depth + 1)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        place = depth == 1 ? .between : .nested(depth - 1)
        return depth == 1
      default: break
      }
    case .bare:
      guard isSpace || isInArray && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]")) else {
        try add(byte)
        return false
      }
      place = byte == UInt8(ascii: "]") ? .afterEnd : .between
      return true
    case .afterEnd:
      guard isSpace else { throw .invalid("the body has something after its end") }
    }
    return false
  }

  private mutating func begin(_ byte: UInt8) throws(GRPCStatus) {
    try add(byte)
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["): place = .nested(1)
    case UInt8(ascii: "\""):
      place = .bare
      isInString = true
    default: place = .bare
    }
  }

  /// Whether a value has ended: a string that is not in another.
  private mutating func inString(_ byte: UInt8) throws(GRPCStatus) -> Bool {
    try add(byte)
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      guard case .bare = place else { return false }
      place = .between
      return true
    }
    return false
  }

  private mutating func add(_ byte: UInt8) throws(GRPCStatus) {
    guard value.count < limit else {
      throw GRPCStatus(
        code: .resourceExhausted,
        message: "a message of the stream is larger than \(limit) bytes",
        origin: .peer
      )
    }
    value.append(byte)
  }
}
