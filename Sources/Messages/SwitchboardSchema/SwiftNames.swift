import SwitchboardText

/// What generated Swift is called.
package enum SwiftNames {
  /// What the names of a package's types begin with: `Foo_BarBaz_` for `foo.bar_baz`.
  package static func prefix(of package: String) -> String {
    var result: [UInt8] = []
    var startsWord = true
    for byte in package.utf8 {
      switch byte {
      case UInt8(ascii: "_"): startsWord = true
      case UInt8(ascii: "."):
        startsWord = true
        result.append(UInt8(ascii: "_"))
      default:
        if result.isEmpty, byte.isDigit { result.append(UInt8(ascii: "_")) }
        result.append(startsWord ? byte.uppercased : byte)
        startsWord = false
      }
    }
    return String(decoding: result, as: UTF8.self) + "_"
  }
}
