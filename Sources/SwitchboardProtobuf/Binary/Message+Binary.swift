extension Message {
  /// Reads a message from its binary form.
  ///
  /// - Parameters:
  ///   - bytes: the encoded message, and nothing after it.
  ///   - extensions: the extensions to recognise.
  ///   - partial: whether `required` fields may be missing.
  ///   - options: limits, and what becomes of unknown fields.
  /// - Throws: what is wrong with the bytes, and in which field.
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

  /// Reads a message from a buffer that the caller owns; no copy of the whole is made.
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
  /// - Throws: an error where a `required` field is missing, or the message is larger than the format allows.
  @inlinable
  public func serializedBytes(
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    let counted = try count(partial: partial, options: options)
    var failure: EncodeError?
    let bytes = [UInt8](unsafeUninitializedCapacity: counted.total) { buffer, count in
      do throws(EncodeError) {
        count = try write(into: UnsafeMutableRawBufferPointer(buffer), counted: counted)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// The number of bytes that the message takes in binary.
  @inlinable
  public func serializedSize() throws(EncodeError) -> Int {
    try count(partial: true, options: BinaryEncodingOptions()).total
  }

  /// Appends the message in binary to memory that the caller gives; it fails where that is too small.
  @inlinable
  public func serialize(
    into destination: inout OutputRawSpan,
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) {
    let counted = try count(partial: partial, options: options)
    guard counted.total <= destination.freeCapacity else { throw EncodeError(.destinationTooSmall) }
    try destination.withUnsafeMutableBytes { bytes, initialized throws(EncodeError) in
      let free = UnsafeMutableRawBufferPointer(rebasing: bytes[initialized..<(initialized + counted.total)])
      initialized += try write(into: free, counted: counted)
    }
  }

  /// The first pass of encoding, with the checks that the format and the caller ask for.
  @inlinable
  func count(partial: Bool, options: BinaryEncodingOptions) throws(EncodeError) -> SizeCounter {
    if !partial, !isInitialized { throw EncodeError(.missingRequiredField) }
    var counter = SizeCounter(deterministic: options.deterministic)
    try measure(with: &counter)
    guard counter.total <= Int(Int32.max) else { throw EncodeError(.tooLarge) }
    return counter
  }

  /// The second pass of encoding. Returns the number of bytes written.
  @inlinable
  func write(
    into bytes: UnsafeMutableRawBufferPointer,
    counted: consuming SizeCounter
  ) throws(EncodeError) -> Int {
    var encoder = BinaryEncoder(bytes, counted: counted)
    try encode(to: &encoder)
    guard !encoder.writer.hasOverflowed else { throw EncodeError(.destinationTooSmall) }
    return bytes.count - encoder.writer.remaining
  }
}
