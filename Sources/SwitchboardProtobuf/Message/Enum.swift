/// A protobuf enum.
///
/// An open enum (`proto3`, and editions by default) keeps a number without a name in a case of
/// its own, `UNRECOGNIZED`; a closed one (`proto2`) has no such case, and a field that meets such
/// a number leaves it in the message's unknown fields.
public protocol Enum: RawRepresentable, CaseIterable, Hashable, Sendable, ScalarType
where RawValue == Int, Value == Self {
  /// The value of a field that was not set.
  init()

  /// The enum value of a number, or nil where the enum is closed and does not have it.
  init?(rawValue: Int)

  /// The full name of the enum in its `.proto` file.
  static var protoEnumName: String { get }

  /// The names of the values as the `.proto` file spells them.
  static var valueNames: EnumNames { get }
}

// By number, here for all enums: what the compiler makes up for an enum takes it a time that grows with the square of the
// number of cases.
extension Enum {
  @inlinable
  public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
