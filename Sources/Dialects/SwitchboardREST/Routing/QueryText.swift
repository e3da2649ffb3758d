import SwitchboardText

/// The parameters of a query, in order. What is empty between two `&` is none.
struct QueryText: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The value is `nil` without a `=`.
  mutating func next() -> (name: [UInt8], value: [UInt8]?)? {
    while position < bytes.count {
      let end = bytes[position...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
      let parameter = bytes[position..<end]
      position = end + 1
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
