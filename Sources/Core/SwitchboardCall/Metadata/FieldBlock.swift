// unsafe: positions of fields within one block; copy on write: a block that others hold is never written

/// The fields of a header list in one block of memory: their bytes from the front, and their positions from the back.
///
/// A copy is one reference, `nil` while there are no fields. A shared block is copied before it is written.
@usableFromInline
struct FieldBlock: @unchecked Sendable {
  // Sendable holds because a block is written only while one value alone refers to it.
  typealias Bytes = UnsafeBufferPointer<UInt8>

  @usableFromInline struct Extent {
    let capacity: Int
    var byteCount = 0
    var fieldCount = 0
    /// Whether the fields arrived with a call, at least some of them.
    var isReceived = false

    /// The bytes that are still free.
    var room: Int { capacity - byteCount - fieldCount * FieldPosition.size }
  }

  @usableFromInline typealias Storage = ManagedBuffer<Extent, UInt8>

  @usableFromInline var storage: Storage?

  @inlinable
  init() {}

  /// Enough for the few short fields of most calls.
  private static let leastCapacity = 320

  var isEmpty: Bool { storage == nil }

  @inline(__always) func isCopy(of other: FieldBlock) -> Bool { storage === other.storage }

  /// The bytes, the end of the positions, and the number of fields: valid while the block is kept and unchanged.
  var memory: (bytes: UnsafePointer<UInt8>, positionsEnd: UnsafeRawPointer, count: Int)? {
    storage?.withUnsafeMutablePointers { extent, bytes in
      (UnsafePointer(bytes), UnsafeRawPointer(bytes) + extent.pointee.capacity, extent.pointee.fieldCount)
    }
  }

  var fieldCount: Int { storage.map(Self.extent)?.fieldCount ?? 0 }

  /// Not `header`, which would check exclusivity at each access.
  private static func extent(_ storage: Storage) -> Extent {
    storage.withUnsafeMutablePointerToHeader { $0.pointee }
  }

  /// Adds a field. `fill` must write the name and then the value.
  mutating func append(nameCount: Int, valueCount: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
    let byteCount = nameCount + valueCount
    makeOwn(room: byteCount + FieldPosition.size)
    storage?.withUnsafeMutablePointers { extent, bytes in
      let start = extent.pointee.byteCount
      fill(UnsafeMutableBufferPointer(start: bytes + start, count: byteCount))
      extent.pointee.byteCount += byteCount
      extent.pointee.fieldCount += 1
      let position = FieldPosition(start: start, nameCount: nameCount, valueCount: valueCount)
      let end = UnsafeMutableRawPointer(bytes) + extent.pointee.capacity
      (end - extent.pointee.fieldCount * FieldPosition.size).storeBytes(of: position, as: FieldPosition.self)
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
    let position = FieldPosition.load(index, before: UnsafeRawPointer(bytes) + extent.pointee.capacity)
    let name = bytes + position.start
    return (
      Bytes(start: name, count: position.nameCount),
      Bytes(start: name + position.nameCount, count: position.valueCount)
    )
  }

  var isReceived: Bool { storage.map(Self.extent)?.isReceived ?? false }

  /// Has an effect only if there are fields.
  mutating func markReceived() {
    guard !isEmpty, !isReceived else { return }
    makeOwn(room: 0)
    storage?.withUnsafeMutablePointerToHeader { $0.pointee.isReceived = true }
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
      var larger = Extent(capacity: capacity)
      larger.byteCount = extent.byteCount
      larger.fieldCount = extent.fieldCount
      larger.isReceived = extent.isReceived
      return larger
    }
    if let old { Self.copy(old, to: own) }
    storage = own
  }

  private static func copy(_ old: Storage, to own: Storage) {
    old.withUnsafeMutablePointers { extent, source in
      own.withUnsafeMutablePointers { larger, target in
        target.initialize(from: source, count: extent.pointee.byteCount)
        let positionsSize = extent.pointee.fieldCount * FieldPosition.size
        (target + larger.pointee.capacity - positionsSize)
          .initialize(from: source + extent.pointee.capacity - positionsSize, count: positionsSize)
      }
    }
  }
}

/// Where the bytes of a field are in its block.
@frozen
@usableFromInline package struct FieldPosition: BitwiseCopyable {
  @usableFromInline package let start: Int
  @usableFromInline package let nameCount: Int
  @usableFromInline package let valueCount: Int

  @inlinable static var size: Int { MemoryLayout<FieldPosition>.stride }

  /// The position of a field, which must exist. `end` is the end of the block's memory.
  @inlinable @inline(__always)
  package static func load(_ index: Int, before end: UnsafeRawPointer) -> FieldPosition {
    (end - (index + 1) * size).loadUnaligned(as: FieldPosition.self)
  }
}
