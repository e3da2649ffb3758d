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

  /// The values that end in a piece.
  mutating func take(_ piece: some Sequence<UInt8>, _ emit: ([UInt8]) throws(GRPCStatus) -> Void)
    throws(GRPCStatus)
  {
    for byte in piece { try take(byte, emit) }
  }

  /// The last value, which nothing ends but the end of the bytes.
  mutating func end(_ emit: ([UInt8]) throws(GRPCStatus) -> Void) throws(GRPCStatus) {
    if case .bare = place, !isInString { try finish(emit) }
    switch place {
    case .nested, .bare: throw .invalid("the body ends inside a value")
    case .start, .between: guard !isInArray else { throw .invalid("the body ends inside an array") }
    case .afterEnd: break
    }
  }

  private mutating func take(_ byte: UInt8, _ emit: ([UInt8]) throws(GRPCStatus) -> Void) throws(GRPCStatus) {
    if isInString { return try inString(byte, emit) }
    let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
    switch place {
    case .start where byte == UInt8(ascii: "["):
      isInArray = true
      place = .between
    case .start, .between:
      if isSpace || isInArray && byte == UInt8(ascii: ",") { return }
      if isInArray, byte == UInt8(ascii: "]") {
        place = .afterEnd
        return
      }
      try begin(byte)
    case .nested(let depth):
      try add(byte)
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): place = .nested(depth + 1)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        place = .nested(depth - 1)
        if depth == 1 { try finish(emit) }
      default: break
      }
    case .bare:
      guard isSpace || isInArray && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]")) else {
        return try add(byte)
      }
      try finish(emit)
      if byte == UInt8(ascii: "]") { place = .afterEnd }
    case .afterEnd:
      guard isSpace else { throw .invalid("the body has something after its end") }
    }
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

  private mutating func inString(_ byte: UInt8, _ emit: ([UInt8]) throws(GRPCStatus) -> Void)
    throws(GRPCStatus)
  {
    try add(byte)
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      if case .bare = place { try finish(emit) }
    }
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

  private mutating func finish(_ emit: ([UInt8]) throws(GRPCStatus) -> Void) throws(GRPCStatus) {
    place = .between
    defer { value.removeAll(keepingCapacity: true) }
    try emit(value)
  }
}
