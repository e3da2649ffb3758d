/// A value kept on the heap and shared until it is changed.
///
/// Generated messages that are recursive, or so large that copying them would cost more than an
/// allocation, keep their fields in one.
@frozen
public struct Boxed<Value> {
  @usableFromInline
  var box: Box<Value>

  /// Puts `value` in a box of its own.
  @inlinable
  public init(_ value: Value) { box = Box(value) }

  /// The value; changing it leaves other holders of the box as they were.
  // By address, because a read through a property of a class copies the whole value first. The address stays
  // good for the access: `self` holds the box for that long.
  @inlinable
  public var value: Value {
    unsafeAddress { UnsafePointer(box.address) }
    unsafeMutableAddress {
      makeUnique()
      return box.address
    }
  }

  /// Shows the value to `body` in place, where a call of a method on ``value`` would copy it first.
  @inlinable
  public func lend<E: Error>(_ body: (inout Value) throws(E) -> Void) throws(E) {
    try SwitchboardProtobuf.lend(UnsafePointer(box.address), to: body)
  }

  @inlinable
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&box) { copy() }
  }

  // Out of line: every setter of every field passes by.
  @inline(never) @usableFromInline
  mutating func copy() { box = Box(box.address.pointee) }
}

// A box is changed only through `Boxed.value`, which makes sure first that nobody else holds it.
extension Boxed: Sendable where Value: Sendable {}

extension Boxed: Equatable where Value: Equatable {
  @inlinable
  public static func == (left: Boxed, right: Boxed) -> Bool {
    left.box === right.box || left.value == right.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  @inlinable
  public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

/// The heap cell behind ``Boxed``.
@usableFromInline
final class Box<Value> {
  // Only `Boxed` reaches it, for the time of one access to its own exclusive value.
  @exclusivity(unchecked) @usableFromInline
  var value: Value

  @inlinable
  init(_ value: Value) { self.value = value }

  /// Where the value is: a stored property of a final class does not move for as long as the object lives.
  @inlinable
  var address: UnsafeMutablePointer<Value> { withUnsafeMutablePointer(to: &value) { $0 } }
}

// See `Boxed`: a box that more than one thread can see is never written.
extension Box: @unchecked Sendable where Value: Sendable {}
