import SwitchboardText

/// The names of an enum's values in the `.proto` file.
public struct EnumNames: Sendable {
  private var byNumber: [Int32: String] = [:]
  private var byName: [ExactText: Int32] = [:]

  /// Parses the compact form that the generator emits: `number:NAME`, separated by spaces. If a number has several
  /// names, the first is written and all are read.
  public init(_ compact: StaticString) {
    for value in CompactNames.entries(of: compact) {
      guard let name = value.parts.first else { continue }
      if byNumber[value.number] == nil { byNumber[value.number] = name }
      byName[name] = value.number
    }
  }

  /// Names and their numbers, in the order of the declaration.
  init(_ values: [(name: String, number: Int32)]) {
    for value in values {
      if byNumber[value.number] == nil { byNumber[value.number] = value.name }
      byName[value.name] = value.number
    }
  }

  /// The name of a number.
  func name(of number: Int32) -> String? { byNumber[number] }

  /// The number of a name.
  func number(of name: String) -> Int32? { byName[name] }
}
