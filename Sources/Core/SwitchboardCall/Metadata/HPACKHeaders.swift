// unsafe: copies what a transport lends for one call, and lends what it holds for one call

import SwitchboardText

/// An ordered list of header fields: the metadata or the trailers of a call.
///
/// Fields are kept as bytes in one block. A `String` is created only on request, so metadata that nobody reads costs
/// one copy. Names are case-insensitive and stored in lower case, as HTTP/2 requires. A value takes one pointer, which
/// is `nil` while there are no fields.
///
/// ```swift
/// var metadata = HPACKHeaders([("user", "ada")])
/// metadata.add(name: "trace-bin", binary: [1, 2, 3])
/// print(metadata.first(name: "user") ?? "nobody", metadata[binary: "trace-bin"])
/// ```
public struct HPACKHeaders: Sendable {
  @usableFromInline var block: FieldBlock

  /// An empty list.
  @inlinable
  public init() { block = FieldBlock() }

  /// Creates a list of these fields, in order. A name may occur more than once.
  public init(_ fields: [(String, String)]) {
    self.init()
    for (name, value) in fields { add(name: name, value: value) }
  }

  public var isEmpty: Bool { block.isEmpty }

  /// Equal for copies of one list, as long as one of them exists.
  @inlinable @inline(__always) var identity: ObjectIdentifier? { block.storage.map(ObjectIdentifier.init) }

  /// Adds a field; earlier fields of the same name stay. If the name ends in `-bin`, the value has to be in base64, as it is
  /// in metadata that was received; a call with any other text fails with `INTERNAL`.
  public mutating func add(name: String, value: String) {
    append(name: name.utf8.lazy.map(\.lowercased), value: value.utf8)
  }

  /// Adds a binary value, sent in base64. The name must end in `-bin`; a call with any other name fails with `INTERNAL`.
  public mutating func add(name: String, binary value: some Collection<UInt8>) {
    let isBinary = name.utf8.suffix(4).lazy.map(\.lowercased).elementsEqual("-bin".utf8)
    append(
      name: name.utf8.lazy.map(\.lowercased),
      value: (isBinary ? [] : [Self.binaryMark]) + Base64.encode(value)
    )
  }

  /// Precedes a binary value under the name of a text: no value that can be sent has it.
  package static let binaryMark: UInt8 = 0

  /// Adds a field from the wire, whose name is already in lower case.
  package mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    let (nameCount, valueCount) = (name.count, value.count)
    block.append(nameCount: nameCount, valueCount: valueCount) { target in
      _ = target[..<nameCount].initialize(fromContentsOf: name)
      _ = target[nameCount...].initialize(fromContentsOf: value)
    }
  }

  /// The same for borrowed bytes, without the cost of a generic call across modules.
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
    if isReceived { kept.markReceived() }
    self = kept
  }

  /// Removes every field of this name, and then adds one.
  public mutating func replaceOrAdd(name: String, value: String) {
    remove(name: name)
    add(name: name, value: value)
  }

  /// Removes every field of this name, and then adds a binary value, as `add(name:binary:)` does.
  public mutating func replaceOrAdd(name: String, binary value: some Collection<UInt8>) {
    remove(name: name)
    add(name: name, binary: value)
  }

  /// The fields of others whose names this list does not have, and then its own.
  func overriding(_ others: HPACKHeaders?) -> HPACKHeaders {
    guard let others, !others.isEmpty else { return self }
    var merged = HPACKHeaders()
    for index in others.indices where !contains(name: others.name(at: index)) {
      others.withField(at: index) { merged.append(name: $0, value: $1) }
    }
    merged.add(contentsOf: self)
    return merged
  }

  /// Appends the fields of another list.
  public mutating func add(contentsOf other: HPACKHeaders) {
    if isEmpty {
      self = other
      return
    }
    other.forEachField { append(name: $0, value: $1) }
    if other.isReceived { markReceived() }
  }
}

extension HPACKHeaders {
  /// Whether the list has a field of this name.
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

  /// Every value of a `-bin` field, decoded. A field may hold several, separated by commas; invalid base64 is left out.
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

  /// Whether fields of it arrived with a call. Such metadata may be sent with another call, and may then have fields that are
  /// left out.
  package var isReceived: Bool { block.isReceived }

  package mutating func markReceived() { block.markReceived() }

  /// The same list, as one that arrived.
  package var received: HPACKHeaders {
    var all = self
    all.markReceived()
    return all
  }

  /// Whether both are copies of the same list, without comparing fields.
  package func isCopy(of other: HPACKHeaders) -> Bool { block.isCopy(of: other.block) }

  /// Passes the bytes of a field's name and value to `body`.
  package func withField<Result>(
    at index: Int,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    try block.withField(at: index, body)
  }

  /// Passes the bytes of each field's name and value to `body`, in order.
  package func forEachField(_ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Void) {
    block.forEachField(body)
  }

  /// The memory of the fields, valid while this list is kept and unchanged.
  package var memory: (bytes: UnsafePointer<UInt8>, positionsEnd: UnsafeRawPointer, count: Int)? {
    block.memory
  }

  /// The number of bytes in all names and values.
  package var byteCount: Int { block.byteCount }

  func name(at index: Int) -> String {
    withField(at: index) { name, _ in String(decoding: name, as: UTF8.self) }
  }

  func value(at index: Int) -> String {
    withField(at: index) { _, value in String(decoding: value, as: UTF8.self) }
  }

  private func isName(_ name: String, at index: Int) -> Bool {
    withField(at: index) { own, _ in
      own.count == name.utf8.count && own.elementsEqual(name.utf8.lazy.map(\.lowercased))
    }
  }
}
