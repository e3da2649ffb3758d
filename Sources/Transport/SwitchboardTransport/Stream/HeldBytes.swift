// unsafe: framing in place over bytes that the session lends

/// Bytes of a stream that wait for their reader, as they arrived. They take no more memory than their size, however
/// small the messages are.
struct HeldBytes {
  private var bytes: [UInt8] = []
  private var head = 0

  var isEmpty: Bool { head == bytes.count }
  var count: Int { bytes.count - head }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: more)
  }

  /// Passes the bytes to `use`, which returns the part that it did not use.
  mutating func take<Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> UnsafeRawBufferPointer
  ) throws(Failure) {
    let left: Result<Int, Failure> = bytes.withUnsafeBytes { all in
      do throws(Failure) {
        return .success(try use(UnsafeRawBufferPointer(rebasing: all[head...])).count)
      } catch {
        return .failure(error)
      }
    }
    head = bytes.count - (try left.get())
    // Used bytes are removed when they are the larger part, so that each byte is moved at most once.
    guard head * 2 >= bytes.count else { return }
    if isEmpty { bytes = [] } else { bytes.removeFirst(head) }
    head = 0
  }
}
