/// A protobuf enum.
///
/// An open enum (`proto3`, and editions by default) represents a number without a name as the case `UNRECOGNIZED`. A
/// closed enum (`proto2`) has no such case; when a field receives such a number, it goes to the unknown fields of the
/// message.
public protocol Enum: DeclaredType, RawRepresentable, CaseIterable, Hashable, ScalarType
where RawValue == Int, Value == Self {
  /// The value of a field that is not set.
  init()

  /// The enum value with a number, or nil if the enum is closed and does not define it.
  init?(rawValue: Int)

  /// The full name of the enum in its `.proto` file.
  static var protoEnumName: String { get }

  /// The names of the values in the `.proto` file.
  static var valueNames: EnumNames { get }
}

// Compares the numbers, once for all enums: the time that the compiler takes to synthesize this for an enum is
// quadratic in the number of cases.
extension Enum {
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
