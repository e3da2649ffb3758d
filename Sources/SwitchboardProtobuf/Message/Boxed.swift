/// A value on the heap, shared until it is changed.
///
/// Generated messages that are recursive, or so large that copying them would cost more than an allocation, store their
/// fields in one.
@frozen
public struct Boxed<Value> {
  @usableFromInline
  var box: Box<Value>

  /// Puts `value` in a new box.
  @inlinable
  public init(_ value: Value) { box = Box(value) }

  /// The value; changing it does not affect copies that share the box.
  // Accessed by address, because reading a property of a class copies the whole value first. The address is valid
  // during the access, because `self` retains the box.
  @inlinable
  public var value: Value {
    unsafeAddress { UnsafePointer(box.address) }
    unsafeMutableAddress {
      makeUnique()
      return box.address
    }
  }

  /// Calls `body` with the value in place; a method call on ``value`` would copy it first.
  @inlinable
  public func lend<E: Error>(_ body: (inout Value) throws(E) -> Void) throws(E) {
    try SwitchboardProtobuf.lend(UnsafePointer(box.address), to: body)
  }

  @inlinable
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&box) { copy() }
  }

  // Not inlined, because every setter of every field calls it.
  @inline(never) @usableFromInline
  mutating func copy() { box = Box(box.address.pointee) }
}

// A box is changed only through `Boxed.value`, which first makes sure that it is uniquely referenced.
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
  // Only `Boxed` accesses it, for the duration of one access to its own exclusive value.
  @exclusivity(unchecked) @usableFromInline
  var value: Value

  @inlinable
  init(_ value: Value) { self.value = value }

  /// The address of the value: a stored property of a final class does not move during the object's lifetime.
  @inlinable
  var address: UnsafeMutablePointer<Value> { withUnsafeMutablePointer(to: &value) { $0 } }
}

// See `Boxed`: a box that several threads share is never written.
extension Box: @unchecked Sendable where Value: Sendable {}
