// unsafe: one block, written in `init` alone and read-only afterwards

/// One encoded message, with room for gRPC's five-byte prefix.
///
/// The marshaller writes the memory once, and nothing changes it afterwards: transports send it without copying.
///
/// ```swift
/// let message = try MessageBuffer(byteCount: key.count + 1) { writer in
///   writer.append(0)
///   writer.append(contentsOf: key)
/// }
/// ```
@frozen
public struct MessageBuffer: @unchecked Sendable {
  // Sendable holds because the block is written only in `init`, before it is shared.

  @frozen
  @usableFromInline
  struct Header {
    @usableFromInline var byteCount: Int
    @usableFromInline init(byteCount: Int) { self.byteCount = byteCount }
  }

  /// The length of the prefix: one byte of flags and four of length.
  @usableFromInline package static let prefixByteCount = 5

  /// From this size on, a message is decoded on another thread than that of its call's loop, because what is in it may
  /// take two milliseconds, unless its marshaller says that it takes little more time than a copy.
  @inlinable package static var largeByteCount: Int { 16 * 1024 }

  /// Up to this size, a loop may decode a message that takes little more time than a copy.
  @inlinable package static var longestOnLoop: Int { 1024 * 1024 + largeByteCount }

  /// The memory of a queued message in addition to its bytes: 24 bytes of header, the prefix, the allocator's overhead,
  /// and a slot of a queue that has grown to twice its content. Measured by `HeldMessageTests`.
  package static let heldOverhead = 96

  @usableFromInline let storage: ManagedBuffer<Header, UInt8>

  /// Whether a call that compresses its messages compresses this one.
  @usableFromInline package var mayCompress = true

  /// Whether the message arrived compressed. The transport has decompressed it.
  @usableFromInline package var wasCompressed = false

  /// Creates a message of exactly `byteCount` bytes, which `fill` writes. Throws if it writes more or fewer.
  public init(byteCount: Int, _ fill: (inout MessageWriter) throws -> Void) throws {
    guard byteCount >= 0, byteCount <= Int(UInt32.max) else { throw Self.impossibleSize(byteCount) }
    try self.init(unsafeByteCount: byteCount, isCompressed: false) { target in
      var writer = MessageWriter(target)
      try fill(&writer)
      guard writer.byteCount == byteCount else {
        throw Self.wrongSize(promised: byteCount, written: writer.byteCount)
      }
    }
  }

  /// The same for code that never writes more than it announced, such as generated messages: more ends the process.
  @inlinable
  package init(exactByteCount byteCount: Int, _ fill: (inout OutputRawSpan) throws -> Void) throws {
    guard byteCount >= 0, byteCount <= Int(UInt32.max) else { throw Self.impossibleSize(byteCount) }
    try self.init(unsafeByteCount: byteCount, isCompressed: false) { target in
      var output = OutputRawSpan(buffer: target, initializedCount: 0)
      try fill(&output)
      let written = output.finalize(for: target)
      guard written == byteCount else { throw Self.wrongSize(promised: byteCount, written: written) }
    }
  }

  /// The same with a raw pointer, for transports and compressors. `fill` must write all bytes.
  @inlinable
  package init(
    unsafeByteCount byteCount: Int,
    isCompressed: Bool,
    _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) rethrows {
    storage = ManagedBuffer<Header, UInt8>.create(minimumCapacity: byteCount + Self.prefixByteCount) { _ in
      Header(byteCount: byteCount)
    }
    try storage.withUnsafeMutablePointerToElements { elements in
      elements[0] = isCompressed ? 1 : 0
      for index in 1..<5 { elements[index] = UInt8(truncatingIfNeeded: byteCount >> (8 * (4 - index))) }
      try fill(UnsafeMutableRawBufferPointer(start: elements + Self.prefixByteCount, count: byteCount))
    }
  }

  @usableFromInline
  static func wrongSize(promised: Int, written: Int) -> GRPCStatus {
    GRPCStatus(
      code: .internalError,
      message: "the marshaller announced \(promised) bytes and wrote \(written)",
      origin: .user
    )
  }

  @usableFromInline
  static func impossibleSize(_ byteCount: Int) -> GRPCStatus {
    GRPCStatus(code: .resourceExhausted, message: "a gRPC message cannot be \(byteCount) bytes long")
  }

  /// Copies an encoded message.
  @inlinable
  public init(_ bytes: some Collection<UInt8>) {
    self.init(unsafeByteCount: bytes.count, isCompressed: false) { target in
      target.copyBytes(from: bytes)
    }
  }

  /// Copies an encoded message.
  package init(_ bytes: RawSpan) { self = bytes.withUnsafeBytes { MessageBuffer($0) } }
}

extension MessageBuffer {
  /// The length of the message, without its prefix.
  @inlinable
  public var byteCount: Int { storage.withUnsafeMutablePointerToHeader { $0.pointee.byteCount } }

  /// The memory that the message uses in a queue, by which queues are limited: even empty messages use some.
  package var heldByteCount: Int { byteCount + Self.heldOverhead }

  /// Whether the prefix marks the bytes as compressed.
  @inlinable
  package var isCompressed: Bool { storage.withUnsafeMutablePointerToElements { $0[0] & 1 == 1 } }

  /// Passes the message's bytes to `body`.
  @inlinable
  public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
    try storage.withUnsafeMutablePointers { header, elements in
      let start = elements + Self.prefixByteCount
      return try body(UnsafeRawBufferPointer(start: start, count: header.pointee.byteCount).bytes)
    }
  }

  /// The prefix and the message. The pointer is valid while any copy of this value exists.
  @inlinable
  package var unsafeFramedBytes: UnsafeRawBufferPointer {
    storage.withUnsafeMutablePointers { header, elements in
      UnsafeRawBufferPointer(start: elements, count: header.pointee.byteCount + Self.prefixByteCount)
    }
  }
}
