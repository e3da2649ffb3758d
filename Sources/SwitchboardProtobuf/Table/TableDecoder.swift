/// Reads the binary format into messages with tables.
///
/// Its position in the bytes is a ``WireReader``, which checks each step against the end of the message.
struct TableDecoder {
  var reader: WireReader
  private(set) var depthLeft: Int
  private let discardsUnknownFields: Bool

  /// The tag of the current field, and where the field starts.
  private(set) var tag = Tag(number: 1, .varint)
  private(set) var fieldStart: UnsafeRawPointer

  init(_ bytes: UnsafeRawBufferPointer, options: BinaryDecodingOptions) {
    reader = WireReader(bytes)
    fieldStart = reader.cursor
    depthLeft = options.messageDepthLimit
    discardsUnknownFields = options.discardUnknownFields
  }

  /// Reads fields up to the end of the message or, if `group` is not 0, of the group, and merges them into `message`.
  mutating func fields(into message: inout TableMessage, group: Int32 = 0) throws(DecodeError) {
    let table = message.table
    message.makeUnique()
    if table.isMessageSet { return try messageSet(into: &message, table, group: group) }
    var guess = 0
    while try nextField(group: group) {
      let number = tag.number
      // Most writers keep the order of the fields.
      if guess >= table.entries.count || table.entries[guess].number != number {
        guard let index = table.index(of: number) else {
          try unknown(in: &message)
          continue
        }
        guess = index
      }
      do throws(DecodeError) {
        if try !field(guess, of: table, into: &message) { try unknown(in: &message) }
      } catch {
        throw error.inside(table.names.name(of: number))
      }
      guess += 1
    }
  }

  /// Reads a tag. Returns false at the end of the message or group.
  mutating func nextField(group: Int32) throws(DecodeError) -> Bool {
    guard !reader.isAtEnd else {
      guard group == 0 else { throw DecodeError(.truncated) }
      return false
    }
    fieldStart = reader.cursor
    tag = try reader.tag()
    guard tag.has(.endGroup) else { return true }
    guard tag.number == group else { throw DecodeError(.mismatchedGroup) }
    return false
  }

  /// Reads the value of the field at an index. Returns false, without moving, if the wire type does not fit.
  private mutating func field(
    _ index: Int,
    of table: TableData,
    into message: inout TableMessage
  ) throws(DecodeError) -> Bool {
    let entry = table.entries[index]
    switch entry.shape {
    case .map:
      guard tag.has(.lengthDelimited) else { return false }
      try map(entry, of: table, table.enums[index], into: &message)
    case .repeated:
      let isPacked = entry.type.isPackable && tag.has(.lengthDelimited)
      guard isPacked || tag.has(entry.type.wireType) else { return false }
      try elements(entry, of: table, table.enums[index], isPacked: isPacked, into: &message)
    case .singular, .oneof:
      guard tag.has(entry.type.wireType) else { return false }
      if entry.type.isMessage {
        try nested(entry, of: table, into: &message)
      } else {
        try value(entry, table.enums[index], into: &message)
      }
    }
    return true
  }

  // MARK: Nesting

  /// Reads the message or group of a singular field and merges it into the one that is there.
  private mutating func nested(
    _ entry: TableEntry,
    of table: TableData,
    into message: inout TableMessage
  ) throws(DecodeError) {
    var value = message.take(entry, as: TableMessage.self) ?? TableMessage(table.message(of: entry))
    try content(of: &value, isGroup: entry.type == .group)
    message.put(value, in: entry)
  }

  /// Reads a message after its tag.
  mutating func content(of message: inout TableMessage, isGroup: Bool = false) throws(DecodeError) {
    guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
    if isGroup {
      try fields(into: &message, group: tag.number)
    } else {
      let outerEnd = try enter()
      try fields(into: &message)
      reader.end = outerEnd
    }
    leaveLevel()
  }

  /// Counts a level of nesting. Returns false if there are too many.
  mutating func enterLevel() -> Bool {
    guard depthLeft > 0 else { return false }
    depthLeft -= 1
    return true
  }

  mutating func leaveLevel() { depthLeft += 1 }

  /// Makes `tag` the current one again after a nested message was read.
  mutating func restore(_ tag: Tag) { self.tag = tag }

  /// Reads a length and makes its end the end of what is read. Returns the end to restore.
  mutating func enter() throws(DecodeError) -> UnsafeRawPointer {
    let length = try reader.length()
    let end = reader.end
    reader.end = reader.cursor + length
    return end
  }

  // MARK: Unknown fields

  /// Skips the value of the current field and keeps the field.
  mutating func unknown(in message: inout TableMessage) throws(DecodeError) {
    try skipValue()
    keep(from: fieldStart, in: &message)
  }

  /// Keeps the bytes from `start` to the cursor.
  func keep(from start: UnsafeRawPointer, in message: inout TableMessage) {
    guard !discardsUnknownFields else { return }
    message.unknownFields.bytes += UnsafeRawBufferPointer(start: start, count: reader.cursor - start)
  }

  /// Keeps a number that a closed enum does not define, as a field of its own.
  func keep(_ number: UInt64, in message: inout TableMessage) {
    guard !discardsUnknownFields else { return }
    message.unknownFields.bytes += [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
      var writer = WireWriter(UnsafeMutableRawBufferPointer(buffer))
      writer.tag(EncodedTag(tag.number, .varint), varint: number)
      count = buffer.count - writer.remaining
    }
  }

  /// Skips the value of the current field.
  mutating func skipValue() throws(DecodeError) {
    try skip(tag)
    guard tag.has(.startGroup) else { return }
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    // Without recursion, because the input controls the depth.
    var open = [tag.number]
    while let innermost = open.last {
      let inner = try reader.tag()
      if inner.has(.endGroup) {
        guard inner.number == innermost else { throw DecodeError(.mismatchedGroup) }
        open.removeLast()
      } else if inner.has(.startGroup) {
        guard open.count < depthLeft else { throw DecodeError(.nestedTooDeep) }
        open.append(inner.number)
      } else {
        try skip(inner)
      }
    }
  }

  /// Skips the value of a field that is no group.
  private mutating func skip(_ tag: Tag) throws(DecodeError) {
    switch tag.wireType {
    case .varint: _ = try reader.varint()
    case .fixed64: try reader.skip(8)
    case .fixed32: try reader.skip(4)
    case .lengthDelimited: try reader.skip(try reader.length())
    case .startGroup, .endGroup: break
    }
  }

  // MARK: Repetition

  /// Reads the next tag if it is that of the current field.
  mutating func entersSameField() -> Bool {
    let start = reader.cursor
    guard reader.skipsTag(tag) else { return false }
    fieldStart = start
    return true
  }

  /// Counts the consecutive length-delimited fields with this tag, up to a limit.
  func elementsAhead() -> Int {
    var ahead = reader
    var count = 1
    while count < 64, ahead.skipsShortValue(), ahead.skipsTag(tag) { count += 1 }
    return count
  }
}
