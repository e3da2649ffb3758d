/// An ordered list of header fields: the metadata and the trailers of a call.
///
/// Fields are kept as the bytes that travelled, all in one block; a `String` is made only when one is
/// asked for, so metadata that nobody reads costs one copy. Names compare without regard to case and are
/// stored in lower case, as HTTP/2 wants them.
///
/// A value costs one pointer, which is `nil` while there are no fields: metadata passes through many hands.
public struct HPACKHeaders: Sendable {
  private var block = FieldBlock()

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

  /// Adds a field as it came from the wire: the name is in lower case already.
  package mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    let (nameCount, valueCount) = (name.count, value.count)
    block.append(nameCount: nameCount, valueCount: valueCount) { target in
      _ = target[..<nameCount].initialize(fromContentsOf: name)
      _ = target[nameCount...].initialize(fromContentsOf: value)
    }
  }

  /// The same for bytes that are lent, without the cost of a generic call between modules.
  package mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    block.append(nameCount: name.count, valueCount: value.count) { target in
      let bytes = UnsafeMutableRawBufferPointer(target)
      bytes.copyMemory(from: UnsafeRawBufferPointer(name))
      UnsafeMutableRawBufferPointer(rebasing: bytes[name.count...]).copyMemory(
        from: UnsafeRawBufferPointer(value)
      )
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
      withField(at: index) { _, value in
        value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
          .compactMap { Base64.decode($0.filter { $0 != UInt8(ascii: " ") }) }
      }
    }
  }
}

extension HPACKHeaders {
  package var fieldCount: Int { block.fieldCount }

  /// Lends the bytes of a field's name and of its value.
  package func withField<Result>(
    at index: Int,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try block.withField(at: index, body)
  }

  func hasField(at index: Int, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>)
    -> Bool
  {
    block.hasField(at: index, name, value)
  }

  /// What names and values take, all together.
  var byteCount: Int { block.byteCount }

  func name(at index: Int) -> String {
    withField(at: index) { name, _ in String(decoding: name, as: UTF8.self) }
  }

  func value(at index: Int) -> String {
    withField(at: index) { _, value in String(decoding: value, as: UTF8.self) }
  }

  private func isName(_ name: String, at index: Int) -> Bool {
    withField(at: index) { own, _ in own.elementsEqual(name.utf8.lazy.map(Self.lowercased)) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
