/// An ordered list of header fields: the metadata and the trailers of a call.
///
/// Fields are kept as the bytes that travelled, all in one block; a `String` is made only when one is
/// asked for, so metadata that nobody reads costs one copy. Names compare without regard to case and are
/// stored in lower case, as HTTP/2 wants them.
public struct HPACKHeaders: Sendable {
  struct Field: Sendable {
    var start: Int
    var nameCount: Int
    var valueCount: Int
  }

  private(set) var bytes: [UInt8] = []
  private(set) var fields: [Field] = []

  /// No fields.
  public init() {}

  /// The fields in order; a name may come more than once.
  public init(_ fields: [(String, String)]) {
    for (name, value) in fields { add(name: name, value: value) }
  }

  public var isEmpty: Bool { fields.isEmpty }

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
    let start = bytes.count
    bytes.append(contentsOf: name)
    let nameCount = bytes.count - start
    bytes.append(contentsOf: value)
    fields.append(Field(start: start, nameCount: nameCount, valueCount: bytes.count - start - nameCount))
  }

  /// The same for bytes that are lent, without the cost of a generic call between modules.
  @_spi(Transport)
  public mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    let start = bytes.count
    if start == 0 {
      // Room for the few short fields that most calls have, in one step.
      bytes.reserveCapacity(192)
      fields.reserveCapacity(4)
    }
    bytes.append(contentsOf: name)
    bytes.append(contentsOf: value)
    fields.append(Field(start: start, nameCount: name.count, valueCount: value.count))
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
  public var fieldCount: Int { fields.count }

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
