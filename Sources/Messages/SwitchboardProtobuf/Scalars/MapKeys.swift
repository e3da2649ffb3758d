extension ScalarType where Value: Comparable {
  /// Sorts by value.
  @inlinable
  public static func areInIncreasingOrder(_ left: Value, _ right: Value) -> Bool { left < right }
}

extension ProtoInt32: MapKeyType {}
extension ProtoInt64: MapKeyType {}
extension ProtoUInt32: MapKeyType {}
extension ProtoUInt64: MapKeyType {}
extension ProtoSInt32: MapKeyType {}
extension ProtoSInt64: MapKeyType {}
extension ProtoFixed32: MapKeyType {}
extension ProtoFixed64: MapKeyType {}
extension ProtoSFixed32: MapKeyType {}
extension ProtoSFixed64: MapKeyType {}

extension ProtoBool: MapKeyType {
  @inlinable
  public static func areInIncreasingOrder(_ left: Bool, _ right: Bool) -> Bool { !left && right }
}

extension ProtoString: MapKeyType {
  /// Sorts by bytes, as libprotobuf does.
  @inlinable
  public static func areInIncreasingOrder(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}

extension ProtoUncheckedString: MapKeyType {
  /// Sorts by bytes, as libprotobuf does.
  @inlinable
  public static func areInIncreasingOrder(_ left: String, _ right: String) -> Bool {
    ProtoString.areInIncreasingOrder(left, right)
  }
}
