/// An enum, as its descriptor describes it.
public final class EnumTable: Sendable {
  /// The full name of the enum in its `.proto` file.
  public let fullName: String

  /// Whether a number without a name is valid. Otherwise, a field that receives one puts it into the unknown fields.
  public let isOpen: Bool

  /// The value of a field that is not set.
  public let defaultNumber: Int32

  let names: EnumNames

  /// The generated type; nil if the enum was described at run time.
  let type: (any Enum.Type)?

  /// An enum with at least one value, the first of which is the default.
  package init?(fullName: String, isOpen: Bool, values: [(name: String, number: Int32)]) {
    guard let first = values.first else { return nil }
    self.fullName = fullName
    self.isOpen = isOpen
    defaultNumber = first.number
    names = EnumNames(values)
    type = nil
  }

  /// The table of a generated enum.
  init<E: Enum>(_ type: E.Type) {
    fullName = E.protoEnumName
    names = E.valueNames
    defaultNumber = Int32(truncatingIfNeeded: E().rawValue)
    // The first number without a name decides: only an open enum has a case for it.
    let names = names
    isOpen = (Int32(0)...).first { names.name(of: $0) == nil }.flatMap { E(rawValue: Int($0)) } != nil
    self.type = type
  }

  /// The name of a number; if it has several, the first.
  public func name(of number: Int32) -> String? { names.name(of: number) }

  /// The number of a name.
  public func number(of name: String) -> Int32? { names.number(of: name) }

  /// Whether a field may have the value `number`.
  func accepts(_ number: Int32) -> Bool { isOpen || names.name(of: number) != nil }
}
