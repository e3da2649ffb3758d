/// An ordered list of header fields: the metadata and the trailers of a call.
///
/// Fields are kept as the bytes that travelled, all in one block; a `String` is made only when one is
/// asked for, so metadata that nobody reads costs one copy. Names compare without regard to case and are
/// stored in lower case, as HTTP/2 wants them.
///
/// A value costs one pointer, which is `nil` while there are no fields: metadata passes through many hands.
public struct HPACKHeaders: Sendable {
  struct Field: Sendable {
    var start: Int
    var nameCount: Int
    var valueCount: Int
  }

  private final class Box: @unchecked Sendable {
    // Sendable holds because a box is written only while one value alone refers to it. Unchecked exclusivity holds
    // because no access lasts while other code runs.
    @exclusivity(unchecked) var bytes: [UInt8]
    @exclusivity(unchecked) var fields: [Field]

    init(_ bytes: [UInt8], _ fields: [Field]) {
      self.bytes = bytes
      self.fields = fields
    }
  }

  private var box: Box?

  private var bytes: [UInt8] { box?.bytes ?? [] }
  private var fields: [Field] { box?.fields ?? [] }

  /// No fields.
  public init() {}

  /// The fields in order; a name may come more than once.
  public init(_ fields: [(String, String)]) {
    for (name, value) in fields { add(name: name, value: value) }
  }

  public var isEmpty: Bool { box == nil }

  /// Adds a field; one of the same name that is already there stays.
  public mutating func add(name: String, value: String) {
    append(name: name.utf8.lazy.map(Self.lowercased), value: value.utf8)
  }

  /// Adds a binary value. The name must end in `-bin`; the value travels in base64.
  public mutating func add(name: String, binary value: some Collection<UInt8>) {
    append(name: name.utf8.lazy.map(Self.lowercased), value: Base64.encode(value))
  }

  /// Adds a field as it came from the wire: the name is in lower case already.
  @_spi(Transport)
  public mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    let own = makeOwn()
    let start = own.bytes.count
    own.bytes.append(contentsOf: name)
    let nameCount = own.bytes.count - start
    own.bytes.append(contentsOf: value)
    let valueCount = own.bytes.count - start - nameCount
    own.fields.append(Field(start: start, nameCount: nameCount, valueCount: valueCount))
  }

  /// The same for bytes that are lent, without the cost of a generic call between modules.
  @_spi(Transport)
  public mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    let own = makeOwn()
    let start = own.bytes.count
    if start == 0 {
      // Room for the few short fields that most calls have, in one step.
      own.bytes.reserveCapacity(192)
      own.fields.reserveCapacity(4)
    }
    own.bytes.append(contentsOf: name)
    own.bytes.append(contentsOf: value)
    own.fields.append(Field(start: start, nameCount: name.count, valueCount: value.count))
  }

  /// Copies what others hold before it is changed.
  private mutating func makeOwn() -> Box {
    let isOwn = isKnownUniquelyReferenced(&box)
    if isOwn, let box { return box }
    let own = Box(bytes, fields)
    box = own
    return own
  }

  /// Removes every field of this name.
  public mutating func remove(name: String) {
    guard contains(name: name) else { return }
    var kept = HPACKHeaders()
    for index in fields.indices where !isName(name, at: index) {
      kept.append(name: nameBytes(at: index), value: valueBytes(at: index))
    }
    self = kept
  }

  /// Removes every field of this name, then adds one.
  public mutating func replaceOrAdd(name: String, value: String) {
    remove(name: name)
    add(name: name, value: value)
  }

  /// Adds the fields of another list after those here.
  public mutating func add(contentsOf other: HPACKHeaders) {
    if isEmpty {
      self = other
      return
    }
    for index in other.fields.indices {
      append(name: other.nameBytes(at: index), value: other.valueBytes(at: index))
    }
  }
}

extension HPACKHeaders {
  /// Whether there is a field of this name.
  public func contains(name: String) -> Bool {
    fields.indices.contains { isName(name, at: $0) }
  }

  /// The first value of this name.
  public func first(name: String) -> String? {
    fields.indices.first { isName(name, at: $0) }.map(value(at:))
  }

  /// Every value of this name, in order.
  public subscript(name: String) -> [String] {
    fields.indices.filter { isName(name, at: $0) }.map(value(at:))
  }

  /// Every value of a `-bin` field, decoded. A field may hold several, joined by commas; one that is not
  /// base64 is left out.
  public subscript(binary name: String) -> [[UInt8]] {
    fields.indices.filter { isName(name, at: $0) }.flatMap { index in
      valueBytes(at: index).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        .compactMap { Base64.decode($0.filter { $0 != UInt8(ascii: " ") }) }
    }
  }
}

extension HPACKHeaders {
  @_spi(Transport)
  public var fieldCount: Int { box?.fields.count ?? 0 }

  @_spi(Transport)
  public func nameBytes(at index: Int) -> ArraySlice<UInt8> {
    let field = fields[index]
    return bytes[field.start..<field.start + field.nameCount]
  }

  @_spi(Transport)
  public func valueBytes(at index: Int) -> ArraySlice<UInt8> {
    let field = fields[index]
    let start = field.start + field.nameCount
    return bytes[start..<start + field.valueCount]
  }

  func name(at index: Int) -> String { String(decoding: nameBytes(at: index), as: UTF8.self) }

  func value(at index: Int) -> String { String(decoding: valueBytes(at: index), as: UTF8.self) }

  private func isName(_ name: String, at index: Int) -> Bool {
    nameBytes(at: index).elementsEqual(name.utf8.lazy.map(Self.lowercased))
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
