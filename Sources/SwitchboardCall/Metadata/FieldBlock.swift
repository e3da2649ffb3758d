/// The fields of a header list in one block of memory: their bytes from the front, and their positions from the back.
///
/// A copy is one reference, `nil` while there are no fields. A shared block is copied before it is written.
struct FieldBlock: @unchecked Sendable {
  // Sendable holds because a block is written only while one value alone refers to it.
  typealias Bytes = UnsafeBufferPointer<UInt8>

  private struct Extent {
    let capacity: Int
    var byteCount = 0
    var fieldCount = 0

    /// The bytes that are still free.
    var room: Int { capacity - byteCount - fieldCount * Place.size }
  }

  private struct Place {
    let start: Int
    let nameCount: Int
    let valueCount: Int

    static let size = MemoryLayout<Place>.stride
  }

  private typealias Storage = ManagedBuffer<Extent, UInt8>

  private var storage: Storage?

  /// Enough for the few short fields of most calls.
  private static let leastCapacity = 320

  var isEmpty: Bool { storage == nil }

  @inline(__always) func isCopy(of other: FieldBlock) -> Bool { storage === other.storage }

  var fieldCount: Int { storage.map(Self.extent)?.fieldCount ?? 0 }

  /// Not `header`, which would check exclusivity at each access.
  private static func extent(_ storage: Storage) -> Extent {
    storage.withUnsafeMutablePointerToHeader { $0.pointee }
  }

  /// Adds a field. `fill` must write the name and then the value.
  mutating func append(nameCount: Int, valueCount: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
    let byteCount = nameCount + valueCount
    makeOwn(room: byteCount + Place.size)
    storage?.withUnsafeMutablePointers { extent, bytes in
      let start = extent.pointee.byteCount
      fill(UnsafeMutableBufferPointer(start: bytes + start, count: byteCount))
      extent.pointee.byteCount += byteCount
      extent.pointee.fieldCount += 1
      let place = Place(start: start, nameCount: nameCount, valueCount: valueCount)
      let end = UnsafeMutableRawPointer(bytes) + extent.pointee.capacity
      (end - extent.pointee.fieldCount * Place.size).storeBytes(of: place, as: Place.self)
    }
  }

  /// Passes the name and the value of a field to `body`; both are empty if the field does not exist.
  func withField<Result>(at index: Int, _ body: (Bytes, Bytes) throws -> Result) rethrows -> Result {
    guard let storage, index >= 0, index < Self.extent(storage).fieldCount else {
      let nothing = Bytes(start: nil, count: 0)
      return try body(nothing, nothing)
    }
    return try storage.withUnsafeMutablePointers { extent, bytes in
      let field = Self.field(at: index, extent, bytes)
      return try body(field.name, field.value)
    }
  }

  func forEachField(_ body: (Bytes, Bytes) -> Void) {
    storage?.withUnsafeMutablePointers { extent, bytes in
      for index in 0..<extent.pointee.fieldCount {
        let field = Self.field(at: index, extent, bytes)
        body(field.name, field.value)
      }
    }
  }

  @inline(__always)
  private static func field(
    at index: Int,
    _ extent: UnsafePointer<Extent>,
    _ bytes: UnsafePointer<UInt8>
  ) -> (name: Bytes, value: Bytes) {
    let end = UnsafeRawPointer(bytes) + extent.pointee.capacity
    let place = (end - (index + 1) * Place.size).loadUnaligned(as: Place.self)
    let name = bytes + place.start
    return (
      Bytes(start: name, count: place.nameCount),
      Bytes(start: name + place.nameCount, count: place.valueCount)
    )
  }

  /// Whether the field at `index` has this name, which is not empty, and this value.
  func hasField(at index: Int, _ name: Bytes, _ value: Bytes) -> Bool {
    withField(at: index) { Self.areEqual($0, name) && Self.areEqual($1, value) }
  }

  /// Compares words; the last may overlap the one before.
  private static func areEqual(_ one: Bytes, _ bytes: Bytes) -> Bool {
    guard one.count == bytes.count else { return false }
    let (own, other, count) = (UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(bytes), bytes.count)
    let size = MemoryLayout<UInt64>.size
    guard count >= size else {
      return (0..<count).allSatisfy { own.load(fromByteOffset: $0, as: UInt8.self) == bytes[$0] }
    }
    var offset = 0
    while offset < count {
      offset = min(offset, count - size)
      let word = own.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if word != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
      offset += size
    }
    return true
  }

  /// The number of bytes in the names and values.
  var byteCount: Int { storage.map(Self.extent)?.byteCount ?? 0 }

  /// Makes the block unshared, with at least `room` free bytes.
  private mutating func makeOwn(room: Int) {
    if isKnownUniquelyReferenced(&storage), storage.map(Self.extent)?.room ?? 0 >= room { return }
    let old = storage
    let extent = old.map(Self.extent) ?? Extent(capacity: 0)
    let needed = extent.capacity - extent.room + room
    let capacity = needed <= Self.leastCapacity ? Self.leastCapacity : needed * 2
    let own = Storage.create(minimumCapacity: capacity) { _ in
      Extent(capacity: capacity, byteCount: extent.byteCount, fieldCount: extent.fieldCount)
    }
    if let old { Self.copy(old, to: own) }
    storage = own
  }

  private static func copy(_ old: Storage, to own: Storage) {
    old.withUnsafeMutablePointers { extent, source in
      own.withUnsafeMutablePointers { larger, target in
        target.initialize(from: source, count: extent.pointee.byteCount)
        let placesSize = extent.pointee.fieldCount * Place.size
        (target + larger.pointee.capacity - placesSize)
          .initialize(from: source + extent.pointee.capacity - placesSize, count: placesSize)
      }
    }
  }
}
