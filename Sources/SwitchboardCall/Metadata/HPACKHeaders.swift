/// An ordered list of header fields: the metadata and the trailers of a call.
///
/// Fields are kept as the bytes that travelled, all in one block; a `String` is made only when one is
/// asked for, so metadata that nobody reads costs one copy. Names compare without regard to case and are
/// stored in lower case, as HTTP/2 wants them.
///
/// A value costs one pointer, which is `nil` while there are no fields: metadata passes through many hands.
public struct HPACKHeaders: Sendable {
  private var block = HeaderBlock()

  /// No fields.
  public init() {}

  /// The fields in order; a name may come more than once.
  public init(_ fields: [(String, String)]) {
    for (name, value) in fields { add(name: name, value: value) }
  }

  public var isEmpty: Bool { block.isEmpty }

  /// Adds a field; one of the same name that is already there stays.
  public mutating func add(name: String, value: String) {
    append(name: name.utf8.lazy.map(Self.lowercased), value: value.utf8)
  }

  /// Adds a binary value. The name must end in `-bin`; the value travels in base64.
  public mutating func add(name: String, binary value: some Collection<UInt8>) {
    append(name: name.utf8.lazy.map(Self.lowercased), value: Base64.encode(value))
  }

  private mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    block.append(nameCount: name.count, valueCount: value.count) { nameTarget, valueTarget in
      _ = nameTarget.update(fromContentsOf: name)
      _ = valueTarget.update(fromContentsOf: value)
    }
  }

  /// Adds a field as it came from the wire: the name is in lower case already.
  @_spi(Transport)
  public mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    block.append(nameCount: name.count, valueCount: value.count) { nameTarget, valueTarget in
      _ = nameTarget.update(fromContentsOf: name)
      _ = valueTarget.update(fromContentsOf: value)
    }
  }

  /// Removes every field of this name.
  public mutating func remove(name: String) {
    guard contains(name: name) else { return }
    var kept = HPACKHeaders()
    for index in indices where !isName(name, at: index) {
      withField(at: index) { kept.append(name: $0, value: $1) }
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
    for index in other.indices {
      other.withField(at: index) { append(name: $0, value: $1) }
    }
  }
}

extension HPACKHeaders {
  /// Whether there is a field of this name.
  public func contains(name: String) -> Bool {
    indices.contains { isName(name, at: $0) }
  }

  /// The first value of this name.
  public func first(name: String) -> String? {
    indices.first { isName(name, at: $0) }.map(value(at:))
  }

  /// Every value of this name, in order.
  public subscript(name: String) -> [String] {
    indices.filter { isName(name, at: $0) }.map(value(at:))
  }

  /// Every value of a `-bin` field, decoded. A field may hold several, joined by commas; one that is not
  /// base64 is left out.
  public subscript(binary name: String) -> [[UInt8]] {
    indices.filter { isName(name, at: $0) }.flatMap { index in
      block.withField(at: index) { _, value in
        value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
          .compactMap { Base64.decode($0.filter { $0 != UInt8(ascii: " ") }) }
      } ?? []
    }
  }
}

extension HPACKHeaders {
  @_spi(Transport)
  public var fieldCount: Int { block.fieldCount }

  /// Lends the bytes of a field.
  @_spi(Transport)
  public func withField(
    at index: Int,
    _ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void
  ) {
    block.withField(at: index, body)
  }

  func name(at index: Int) -> String {
    block.withField(at: index) { name, _ in String(decoding: name, as: UTF8.self) } ?? ""
  }

  func value(at index: Int) -> String {
    block.withField(at: index) { _, value in String(decoding: value, as: UTF8.self) } ?? ""
  }

  func isField(at index: Int, of other: HPACKHeaders) -> Bool {
    let isEqual = block.withField(at: index) { name, value in
      other.block.withField(at: index) { name.elementsEqual($0) && value.elementsEqual($1) }
    }
    return isEqual == true
  }

  func hash(fieldAt index: Int, into hasher: inout Hasher) {
    _ = block.withField(at: index) { name, value in
      for bytes in [name, value] {
        hasher.combine(bytes.count)
        hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
      }
    }
  }

  private func isName(_ name: String, at index: Int) -> Bool {
    let isEqual = block.withField(at: index) { bytes, _ in
      bytes.elementsEqual(name.utf8.lazy.map(Self.lowercased))
    }
    return isEqual == true
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
