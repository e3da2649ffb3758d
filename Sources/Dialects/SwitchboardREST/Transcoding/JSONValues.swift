import Switchboard
import SwitchboardProtobuf

/// Splits a stream of bytes into JSON values: consecutive values, such as one per line, or the elements of an array.
///
/// It only finds where values end; their contents are parsed later. Each byte is examined once.
struct JSONValues {
  private enum State {
    /// Before a value. An array may begin only at the start.
    case start, between
    case inside(JSONValueScanner)
    case afterEnd
  }

  /// The size limit of a value.
  let limit: Int
  private var state = State.start
  private var value: [UInt8] = []
  private var isInArray = false
  /// In an array, what precedes the next value.
  private var previous = Previous.bracket

  private enum Previous { case bracket, value, comma }

  /// How many bytes of a value that has not ended are kept.
  var gatheredByteCount: Int { value.count }

  init(limit: Int) { self.limit = limit }

  /// Reads up to the end of the next value. Returns the value, or `nil` if it does not end in this piece, and the
  /// number of bytes read.
  mutating func next(in piece: some Sequence<UInt8>) throws(GRPCStatus) -> (value: [UInt8]?, count: Int) {
    var count = 0
    for byte in piece {
      count += 1
      if try take(byte) { return (takeValue(), count) }
    }
    return (nil, count)
  }

  /// The last value, if it ends only with the input, as a number does.
  mutating func end() throws(GRPCStatus) -> [UInt8]? {
    let isComplete = if case .inside(let scanner) = state { scanner.isBare } else { false }
    if isComplete { state = .between }
    switch state {
    case .inside: throw .invalid("the body ends inside a value")
    case .start, .between: guard !isInArray else { throw .invalid("the body ends inside an array") }
    case .afterEnd: break
    }
    return isComplete ? takeValue() : nil
  }

  private mutating func takeValue() -> [UInt8] {
    defer { value = [] }
    return value
  }

  /// Consumes a byte. Returns whether it ended a value.
  private mutating func take(_ byte: UInt8) throws(GRPCStatus) -> Bool {
    let isSpace = byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    switch state {
    case .start where byte == UInt8(ascii: "["):
      isInArray = true
      state = .between
    case .start, .between:
      if isSpace { return false }
      if isInArray, !(try isStartOfElement(byte)) { return false }
      try add(byte)
      state = .inside(JSONValueScanner(first: byte))
    case .inside(let scanner) where scanner.isBare:
      guard isSpace || isInArray && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]")) else {
        try add(byte)
        return false
      }
      state = .between
      if !isSpace { _ = try isStartOfElement(byte) }
      return true
    case .inside(var scanner):
      try add(byte)
      let isLast = scanner.isLast(byte)
      state = isLast ? .between : .inside(scanner)
      return isLast
    case .afterEnd:
      guard isSpace else { throw .invalid("the body has data after its end") }
    }
    return false
  }

  /// Consumes a byte between the values of an array, unless one starts with it.
  private mutating func isStartOfElement(_ byte: UInt8) throws(GRPCStatus) -> Bool {
    switch (byte, previous) {
    case (UInt8(ascii: ","), .value): previous = .comma
    case (UInt8(ascii: "]"), .value), (UInt8(ascii: "]"), .bracket): state = .afterEnd
    case (UInt8(ascii: ","), _), (UInt8(ascii: "]"), _):
      throw .invalid("the array in the body has a comma without a value")
    case (_, .value): throw .invalid("the array in the body has no comma between two values")
    case (_, _):
      previous = .value
      return true
    }
    return false
  }

  private mutating func add(_ byte: UInt8) throws(GRPCStatus) {
    guard value.count < limit else {
      throw GRPCStatus(
        code: .resourceExhausted,
        message:
          "a message of the stream is larger than the server's limit (RESTOptions.valueLimit): \(limit) bytes",
        origin: .peer
      )
    }
    value.append(byte)
  }
}
