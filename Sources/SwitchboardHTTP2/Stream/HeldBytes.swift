/// Bytes of a stream that wait for their reader, as they came: they take no more memory than they are, whatever messages
/// they hold.
struct HeldBytes {
  private var bytes: [UInt8] = []
  private var head = 0

  var isEmpty: Bool { head == bytes.count }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: more)
  }

  /// Lends what there is; `use` returns what it leaves of it.
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
    // What was taken is given back once it is most of it, so that each byte is moved once at the most.
    guard head * 2 >= bytes.count else { return }
    if isEmpty { bytes = [] } else { bytes.removeFirst(head) }
    head = 0
  }
}
