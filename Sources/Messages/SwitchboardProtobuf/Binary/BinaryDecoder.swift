// unsafe: marks places in the bytes being read, to copy from them

/// Reads the binary format into messages, by their tables.
///
/// Its position in the bytes is a ``WireReader``, which checks each step against the end of the message.
struct BinaryDecoder {
  var reader: WireReader
  private(set) var depthLeft: Int
  private let discardsUnknownFields: Bool
  private var objects: ObjectBudget
  let extensions: ExtensionRegistry?

  /// The tag of the current field, and where the field starts.
  private(set) var tag = Tag(number: 1, .varint)
  var fieldStart: UnsafeRawPointer

  /// Elements of repeated fields that may repeat.
  var recent = RecentStrings()

  /// Whether the value of the current extension was read; otherwise the field is unknown. Below it, the unknown part of
  /// a value that was read: numbers that a closed enum does not define, encoded as fields.
  var isTaken = true
  var displaced: [UInt8] = []

  init(
    _ bytes: UnsafeRawBufferPointer,
    extensions: ExtensionRegistry? = nil,
    options: BinaryDecodingOptions,
    spareMemory: Int = ObjectBudget.spare
  ) {
    reader = WireReader(bytes)
    fieldStart = reader.cursor
    depthLeft = options.messageDepthLimit
    discardsUnknownFields = options.discardUnknownFields
    objects = ObjectBudget(input: bytes.count, spare: spareMemory)
    self.extensions = extensions
  }

  /// Reads fields up to the end of the message or, if `group` is not 0, of the group, and merges them into a message.
  mutating func fields(into message: ObjectSlots, group: Int32 = 0) throws(DecodeError) {
    let table = message.table
    if !table.isPlain {
      try claim(table)
      if table.isMessageSet { return try messageSet(into: message, table, group: group) }
    }
    var expected = table.entries.first
    while true {
      let start = reader.cursor
      // Most writers keep the order of the fields.
      var entry = expected
      if !reader.skipsTag(expected.key) {
        guard try nextField(group: group) else { return }
        guard let found = table.entry(tag.number) else {
          try unlisted(in: message, table)
          continue
        }
        entry = found
        guard tag == found.key else {
          try otherForm(of: found, of: table, into: message)
          continue
        }
      }
      expected = entry.next
      do throws(DecodeError) {
        try value(entry, of: table, into: message, from: start)
      } catch {
        throw error.inside(table.names.name(of: entry.number))
      }
    }
  }

  /// Reads a tag. Returns false at the end of the message or group.
  @inline(__always)
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

  /// Reads the value of a field whose wire type differs from its entry's. The field may be packed or not, or it is
  /// unknown.
  @inline(never)
  private mutating func otherForm(
    of entry: TableEntry,
    of table: TableData,
    into message: ObjectSlots
  ) throws(DecodeError) {
    do throws(DecodeError) {
      if entry.shape == .repeated, entry.type.isPackable, tag.has(.lengthDelimited) {
        try elements(entry, of: table, isPacked: true, into: message)
      } else if entry.shape == .repeated, entry.type.isPackable, tag.has(entry.type.wireType) {
        try elements(entry, of: table, isPacked: false, into: message)
      } else {
        try unknown(in: message)
      }
    } catch {
      throw error.inside(table.names.name(of: entry.number))
    }
  }

  // MARK: Nesting

  /// Reads a message or group after its tag.
  @inline(__always)
  mutating func content(_ entry: TableEntry, of message: ObjectSlots) throws(DecodeError) {
    if entry.type == .group {
      try group(entry.number, into: message)
    } else {
      try content(of: message)
    }
  }

  /// Reads a message after its tag.
  mutating func content(of message: ObjectSlots) throws(DecodeError) {
    guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
    let outerEnd = try enter()
    try fields(into: message)
    reader.end = outerEnd
    leaveLevel()
  }

  /// Reads a group after its tag.
  mutating func group(_ number: Int32, into message: ObjectSlots) throws(DecodeError) {
    guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
    try fields(into: message, group: number)
    leaveLevel()
  }

  /// Counts the memory of a message's object. A message that is merged into one with the same object is counted again.
  @inline(never)
  mutating func claim(_ table: TableData) throws(DecodeError) { try objects.claim(table) }

  /// Counts a level of nesting. Returns false if there are too many.
  mutating func enterLevel() -> Bool {
    guard depthLeft > 0 else { return false }
    depthLeft -= 1
    return true
  }

  mutating func leaveLevel() { depthLeft += 1 }

  /// Makes `tag` the current one again after a nested message was read.
  mutating func restore(_ tag: Tag) { self.tag = tag }

  /// Reads a length and limits the reader to its end. Returns the previous end, to be restored.
  @inline(__always)
  mutating func enter() throws(DecodeError) -> UnsafeRawPointer {
    let length = try reader.length()
    let end = reader.end
    reader.end = reader.cursor + length
    return end
  }

  // MARK: Unknown fields

  /// Reads a field that is not in the table: an extension or an unknown field.
  @inline(never)
  private mutating func unlisted(in message: ObjectSlots, _ table: TableData) throws(DecodeError) {
    guard let field = extensionField(tag.number, of: table) else {
      return try unknown(in: message)
    }
    do throws(DecodeError) {
      try value(of: field, into: message)
    } catch {
      throw error.inside(table.names.name(of: tag.number))
    }
  }

  /// Skips the value of the current field and keeps the field.
  @inline(never)
  mutating func unknown(in message: ObjectSlots) throws(DecodeError) {
    try skipValue()
    keep(from: fieldStart, in: message)
  }

  /// Adds the bytes from `start` to the cursor to the unknown fields.
  func keep(from start: UnsafeRawPointer, in message: ObjectSlots) {
    keep(UnsafeRawBufferPointer(start: start, count: reader.cursor - start), in: message)
  }

  /// Adds encoded fields to the unknown fields.
  func keep(_ bytes: some Sequence<UInt8>, in message: ObjectSlots) {
    if !discardsUnknownFields { message.unknown.pointee[or: []] += bytes }
  }

  /// Encodes a number that a closed enum does not define as a separate field. libprotobuf keeps all bits of packed
  /// numbers, and only the low bits of others.
  func field(_ fieldNumber: Int32, of bits: UInt64, isPacked: Bool) -> [UInt8] {
    let number = isPacked ? bits : UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: bits)))
    return [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
      var writer = WireWriter(UnsafeMutableRawBufferPointer(buffer))
      writer.tag(EncodedTag(fieldNumber, .varint), varint: number)
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

  /// Skips the value of a field that is not a group.
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

  /// Reads the next tag if it is `tag`.
  @inline(__always)
  mutating func repeats(_ tag: Tag) -> Bool { reader.skipsTag(tag) }

  /// The number of consecutive length-delimited fields with a tag, up to a limit. The first of these tags was already
  /// read.
  func run(of tag: Tag) -> Int {
    var ahead = reader
    var count = 1
    while count < 64, ahead.skipsShortValue(), ahead.skipsTag(tag) { count += 1 }
    return count
  }
}
