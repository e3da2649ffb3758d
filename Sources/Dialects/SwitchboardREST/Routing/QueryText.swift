import SwitchboardText

/// The parameters of a query, in order. Parameters without `=` have no value and are skipped.
struct QueryText: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> (name: [UInt8], value: [UInt8])? {
    while position < bytes.count {
      let end = bytes[position...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
      let parameter = bytes[position..<end]
      position = end + 1
      guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")), equals > parameter.startIndex else {
        continue
      }
      return (
        PercentEncoding.decode(parameter[..<equals], .form),
        PercentEncoding.decode(parameter[(equals + 1)...], .form)
      )
    }
    return nil
  }
}
