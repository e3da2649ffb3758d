import SwitchboardText

/// The parameters of a query, in order. What is empty between two `&` is none.
struct QueryText: Sequence, IteratorProtocol {
  /// What was not read yet.
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The value is `nil` without a `=`.
  mutating func next() -> (name: [UInt8], value: [UInt8]?)? {
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
      let parameter = rest[..<end]
      rest = rest[end...].dropFirst()
      guard !parameter.isEmpty else { continue }
      let equals = parameter.firstIndex(of: UInt8(ascii: "="))
      return (
        PercentEncoding.decode(parameter[..<(equals ?? end)], .form),
        equals.map { PercentEncoding.decode(parameter[($0 + 1)...], .form) }
      )
    }
    return nil
  }
}
