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
  @inlinable
  public var value: Value {
    _read { yield box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}

// A box is changed only through `Boxed.value`, which makes sure first that nobody else holds it.
extension Boxed: Sendable where Value: Sendable {}

extension Boxed: Equatable where Value: Equatable {
  @inlinable
  public static func == (left: Boxed, right: Boxed) -> Bool {
    left.box === right.box || left.box.value == right.box.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  @inlinable
  public func hash(into hasher: inout Hasher) { box.value.hash(into: &hasher) }
}

/// The heap cell behind ``Boxed``.
@usableFromInline
final class Box<Value> {
  // Only `Boxed` reaches it, for the time of one access to its own exclusive value.
  @exclusivity(unchecked) @usableFromInline
  var value: Value

  @usableFromInline
  init(_ value: Value) { self.value = value }
}

// See `Boxed`: a box that more than one thread can see is never written.
extension Box: @unchecked Sendable where Value: Sendable {}
