// unsafe: header bytes that the session lends for one callback

/// The size of a request's head, as HTTP/2 counts it, and what the server accepts.
struct HeadSize {
  private var byteCount = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Counts a field, or what is left of one. Returns `false` if the head is too large.
  @inline(__always)
  mutating func add(_ count: Int) -> Bool {
    byteCount += count
    return !isExceeded
  }

  var isExceeded: Bool { byteCount > limit }

  func hasRoom(for count: Int) -> Bool { byteCount + count <= limit }

  /// As much of a path as may be kept.
  func kept(_ path: UnsafeBufferPointer<UInt8>) -> [UInt8] { Array(path.prefix(limit)) }
}
