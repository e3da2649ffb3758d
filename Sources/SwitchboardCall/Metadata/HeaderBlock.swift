/// The bytes of a list of header fields, with where each of them ends, in one block of memory: a call's metadata is
/// made and let go of in one step.
///
/// ```
///   | name value name value … ->        room        <- … ends of the second, ends of the first |
/// ```
struct HeaderBlock: @unchecked Sendable {
  // Sendable holds because a block is written only while one value alone refers to it.
  typealias Bytes = UnsafeBufferPointer<UInt8>

  private struct Counts {
    var fields = 0
    /// Of names and values together.
    var bytes = 0
    let capacity: Int
  }

  /// Where a field's name and its value end; the name begins where the field before it ends.
  private struct Ends {
    var name: Int
    var value: Int
  }

  private typealias Storage = ManagedBuffer<Counts, UInt8>
  private var storage: Storage?

  /// Holds the few short fields that most calls have.
  private static let firstCapacity = 240

  var fieldCount: Int { storage?.header.fields ?? 0 }
  var isEmpty: Bool { storage == nil }

  /// Lends the name and the value of a field.
  func withField<Result>(at index: Int, _ body: (_ name: Bytes, _ value: Bytes) -> Result) -> Result? {
    storage?.withUnsafeMutablePointers { counts, bytes in
      precondition(index >= 0 && index < counts.pointee.fields, "there is no header field of this number")
      let capacity = counts.pointee.capacity
      let start = index == 0 ? 0 : Self.ends(index - 1, bytes, capacity).value
      let ends = Self.ends(index, bytes, capacity)
      return body(
        Bytes(start: bytes + start, count: ends.name - start),
        Bytes(start: bytes + ends.name, count: ends.value - ends.name)
      )
    }
  }

  /// Adds a field, which `fill` must write the whole of.
  mutating func append(
    nameCount: Int,
    valueCount: Int,
    _ fill: (_ name: UnsafeMutableBufferPointer<UInt8>, _ value: UnsafeMutableBufferPointer<UInt8>) -> Void
  ) {
    let storage = makeOwn(withRoomFor: nameCount + valueCount)
    storage.withUnsafeMutablePointers { counts, bytes in
      let start = counts.pointee.bytes
      let ends = Ends(name: start + nameCount, value: start + nameCount + valueCount)
      fill(
        UnsafeMutableBufferPointer(start: bytes + start, count: nameCount),
        UnsafeMutableBufferPointer(start: bytes + ends.name, count: valueCount)
      )
      Self.place(counts.pointee.fields, bytes, counts.pointee.capacity).storeBytes(of: ends, as: Ends.self)
      counts.pointee.fields += 1
      counts.pointee.bytes = ends.value
    }
  }

  private static func place(_ index: Int, _ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int)
    -> UnsafeMutableRawPointer
  {
    UnsafeMutableRawPointer(bytes + (capacity - (index + 1) * MemoryLayout<Ends>.size))
  }

  private static func ends(_ index: Int, _ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int) -> Ends {
    place(index, bytes, capacity).loadUnaligned(as: Ends.self)
  }

  /// Copies what others hold, or what has no room, before it is changed.
  private mutating func makeOwn(withRoomFor byteCount: Int) -> Storage {
    let isOwn = isKnownUniquelyReferenced(&storage)
    let old = storage?.header ?? Counts(capacity: 0)
    let needed = old.bytes + byteCount + (old.fields + 1) * MemoryLayout<Ends>.size
    if isOwn, needed <= old.capacity, let storage { return storage }
    let capacity = max(
      Self.firstCapacity,
      needed > old.capacity ? max(needed, 2 * old.capacity) : old.capacity
    )
    let made = Storage.create(minimumCapacity: capacity) { _ in
      Counts(fields: old.fields, bytes: old.bytes, capacity: capacity)
    }
    if let storage { Self.copy(storage, to: made) }
    storage = made
    return made
  }

  private static func copy(_ storage: Storage, to made: Storage) {
    storage.withUnsafeMutablePointers { counts, source in
      made.withUnsafeMutablePointers { madeCounts, target in
        target.initialize(from: source, count: counts.pointee.bytes)
        let endsSize = counts.pointee.fields * MemoryLayout<Ends>.size
        (target + (madeCounts.pointee.capacity - endsSize)).initialize(
          from: source + (counts.pointee.capacity - endsSize),
          count: endsSize
        )
      }
    }
  }
}
