/// An enum that was described at run time.
public final class EnumTable: Sendable {
  /// The full name of the enum in its `.proto` file.
  public let fullName: String

  /// Whether a number without a name is a value. If not, a field that receives one leaves it to the unknown fields.
  public let isOpen: Bool

  /// The value of a field that is not set.
  public let defaultNumber: Int32

  let names: EnumNames

  /// An enum with at least one value, the first of which is the default.
  package init?(fullName: String, isOpen: Bool, values: [(name: String, number: Int32)]) {
    guard let first = values.first else { return nil }
    self.fullName = fullName
    self.isOpen = isOpen
    defaultNumber = first.number
    names = EnumNames(values)
  }

  /// The name of a number; if it has several, the first.
  public func name(of number: Int32) -> String? { names.name(of: number) }

  /// The number of a name.
  public func number(of name: String) -> Int32? { names.number(of: name) }

  /// Whether a field may have the value `number`.
  func accepts(_ number: Int32) -> Bool { isOpen || names.name(of: number) != nil }
}
