extension Message {
  /// Reads a message from its binary form.
  ///
  /// - Parameters:
  ///   - bytes: the encoded message, and nothing after it.
  ///   - extensions: the extensions to recognise.
  ///   - partial: whether `required` fields may be missing.
  ///   - options: limits, and what happens to unknown fields.
  /// - Throws: an error that says what is wrong with the bytes, and in which field.
  @inlinable
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
  @inlinable
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
  @inlinable
  public mutating func merge(
    serializedBytes bytes: [UInt8],
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    try merge(serializedBytes: bytes.span.bytes, extensions: extensions, partial: partial, options: options)
  }

  /// Reads an encoded message from a buffer that the caller owns and merges it into this one.
  @inlinable
  public mutating func merge(
    serializedBytes bytes: RawSpan,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    try bytes.withUnsafeBytes { bytes throws(DecodeError) in
      var decoder = BinaryDecoder(bytes, extensions: extensions, options: options)
      do throws(DecodeError) {
        try merge(from: &decoder)
      } catch {
        throw error.inside(Self.simpleName)
      }
    }
    if !partial, !isInitialized { throw DecodeError(.missingRequiredField).inside(Self.simpleName) }
  }

  /// The last part of the message's name: `Order` for `codec.Order`.
  @usableFromInline
  static var simpleName: String { String(protoMessageName[...].split(separator: ".").last ?? "") }

  /// The message in binary.
  ///
  /// - Parameters:
  ///   - partial: whether `required` fields may be missing.
  ///   - options: whether equal messages must give equal bytes.
  /// - Returns: the encoded message.
  /// - Throws: an error if a `required` field is missing or the message is larger than the format allows.
  @inlinable
  public func serializedBytes(
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    var encoder = BinaryEncoder(deterministic: options.deterministic)
    let size = try count(with: &encoder, partial: partial)
    var bytes: [UInt8] = []
    // Not `Array(unsafeUninitializedCapacity:)`, which looks up the type of its buffer at run time.
    try bytes.append(addingCapacity: size) { span throws(EncodeError) in
      try span.withUnsafeMutableBufferPointer { buffer, count throws(EncodeError) in
        count = try write(into: UnsafeMutableRawBufferPointer(buffer), with: &encoder)
      }
    }
    return bytes
  }

  /// The size of the message in binary, in bytes.
  @inlinable
  public func serializedSize() throws(EncodeError) -> Int {
    var encoder = BinaryEncoder(deterministic: false)
    return try count(with: &encoder, partial: true)
  }

  /// Appends the message in binary to memory of the caller; throws if that is too small.
  @inlinable
  public func serialize(
    into destination: inout OutputRawSpan,
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) {
    var encoder = BinaryEncoder(deterministic: options.deterministic)
    let size = try count(with: &encoder, partial: partial)
    guard size <= destination.freeCapacity else { throw EncodeError(.destinationTooSmall) }
    try destination.withUnsafeMutableBytes { bytes, initialized throws(EncodeError) in
      let free = UnsafeMutableRawBufferPointer(rebasing: bytes[initialized..<(initialized + size)])
      initialized += try write(into: free, with: &encoder)
    }
  }

  /// Runs the first pass of encoding, with the checks that the format and the caller require. Returns the size.
  @inlinable
  func count(with encoder: inout BinaryEncoder, partial: Bool) throws(EncodeError) -> Int {
    if !partial, !isInitialized { throw EncodeError(.missingRequiredField) }
    try measure(with: &encoder.counter)
    guard encoder.counter.total <= Int(Int32.max) else { throw EncodeError(.tooLarge) }
    return encoder.counter.total
  }

  /// Runs the second pass of encoding. Returns the number of bytes written.
  @inlinable
  func write(
    into bytes: UnsafeMutableRawBufferPointer,
    with encoder: inout BinaryEncoder
  ) throws(EncodeError) -> Int {
    encoder.writer = WireWriter(bytes)
    try encode(to: &encoder)
    guard !encoder.writer.hasOverflowed else { throw EncodeError(.destinationTooSmall) }
    return bytes.count - encoder.writer.remaining
  }
}
