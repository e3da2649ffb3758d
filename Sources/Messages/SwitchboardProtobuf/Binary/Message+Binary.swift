// unsafe: borrows the caller's bytes, or the stack's, for one call

extension Message {
  /// Reads a message from its binary form.
  ///
  /// - Parameters:
  ///   - bytes: the encoded message, and nothing after it.
  ///   - extensions: the extensions to recognize.
  ///   - partial: whether `required` fields may be missing.
  ///   - options: limits, and what happens to unknown fields.
  /// - Throws: an error that says what is wrong with the bytes, and in which field.
  public init(
    serializedBytes bytes: [UInt8],
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    self.init()
    try merge(serializedBytes: bytes, extensions: extensions, partial: partial, options: options)
  }

  /// Reads a message from a buffer that the caller owns, without copying the whole buffer.
  public init(
    serializedBytes bytes: RawSpan,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    self.init()
    try merge(serializedBytes: bytes, extensions: extensions, partial: partial, options: options)
  }

  /// Reads an encoded message and merges it into this one.
  public mutating func merge(
    serializedBytes bytes: [UInt8],
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    try merge(serializedBytes: bytes.span.bytes, extensions: extensions, partial: partial, options: options)
  }

  /// Reads an encoded message from a buffer that the caller owns and merges it into this one.
  public mutating func merge(
    serializedBytes bytes: RawSpan,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    do throws(DecodeError) {
      try _storage.merge(bytes, extensions: extensions, partial: partial, options: options)
    } catch {
      throw error.inside(Self.simpleName)
    }
  }

  /// Whether an encoded message takes little more time to decode than to copy: apart from long strings, byte strings and
  /// packed numbers of a fixed width, it has at most `work` bytes.
  package static func decodesQuickly(_ bytes: RawSpan, work: Int) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var scan = BulkScan(WireReader(bytes), limit: work)
      return scan.isQuick(_table)
    }
  }

  /// The last part of the message's name: `Order` for `codec.Order`.
  static var simpleName: String { _table.simpleName }

  /// The message in binary.
  ///
  /// - Parameters:
  ///   - partial: whether `required` fields may be missing.
  ///   - options: whether equal messages must give equal bytes.
  /// - Returns: the encoded message.
  /// - Throws: an error if a `required` field is missing or the message is larger than the format allows.
  public func serializedBytes(
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    try _storage.serializedBytes(partial: partial, options: options)
  }

  /// The size of the message in binary, in bytes. It takes as long as encoding the message.
  public func serializedSize() throws(EncodeError) -> Int {
    try _storage.withSerializedBytes(partial: true) { $0.byteCount }
  }

  /// Appends the message in binary to memory of the caller; throws if that is too small.
  public func serialize(
    into destination: inout OutputRawSpan,
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) {
    try _storage.withSerializedBytes(partial: partial, options: options) { bytes throws(EncodeError) in
      try bytes.append(to: &destination)
    }
  }

  /// Calls `body` with the message in binary, in memory that is valid only during this call. It is for callers that
  /// need the size before they allocate the destination.
  @inlinable
  public func withSerializedBytes<Output>(
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions(),
    _ body: (borrowing SerializedBytes) throws -> Output
  ) throws -> Output {
    let output = try _storage.withSerializedBytes(partial: partial, options: options) { bytes in
      do {
        return Result<Output, any Error>.success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try output.get()
  }
}

extension MessageStorage {
  /// Reads an encoded message and merges it into this one.
  mutating func merge(
    _ bytes: RawSpan,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = true,
    options: BinaryDecodingOptions,
    spareMemory: Int = ObjectBudget.spare
  ) throws(DecodeError) {
    try bytes.withUnsafeBytes { bytes throws(DecodeError) in
      var decoder = BinaryDecoder(bytes, extensions: extensions, options: options, spareMemory: spareMemory)
      defer { decoder.recent.forget() }
      try change { slots throws(DecodeError) in try decoder.fields(into: slots) }
    }
    if !partial { try checkDecoded() }
  }

  /// The message in binary.
  func serializedBytes(
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    try withSerializedBytes(partial: partial, options: options) { $0.array }
  }

  /// Calls `body` with the message in binary.
  @inlinable @inline(__always)
  func withSerializedBytes<Output>(
    partial: Bool,
    options: BinaryEncodingOptions = BinaryEncodingOptions(),
    _ body: (borrowing SerializedBytes) throws(EncodeError) -> Output
  ) throws(EncodeError) -> Output {
    // Most messages fit into memory on the stack.
    try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory throws(EncodeError) in
      // The output refers to long values where they are in the message.
      try withExtendedLifetime(object) { _ throws(EncodeError) in
        try body(try serialize(into: memory, partial: partial, options: options))
      }
    }
  }

  /// Encodes the message into memory of the caller, and into more if necessary. The result is in that memory too.
  @usableFromInline
  func serialize(
    into memory: UnsafeMutableRawBufferPointer,
    partial: Bool,
    options: BinaryEncodingOptions
  ) throws(EncodeError) -> SerializedBytes {
    if !partial { try checkEncodable() }
    var encoder = BinaryEncoder(memory, options: options)
    defer { withExtendedLifetime(object) {} }
    return try encoder.message(object.slots)
  }
}
