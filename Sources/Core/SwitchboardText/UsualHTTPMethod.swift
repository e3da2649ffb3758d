/// The usual methods of HTTP, to find misspelled ones: HTTP allows any others.
package enum UsualHTTPMethod {
  private static let names = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"]

  /// The usual method that differs from this one only in its capitals, which makes it another to HTTP.
  package static func inCapitals(_ method: String) -> String? {
    let letters = method.utf8.map { $0.isLower ? $0 & 0xDF : $0 }
    return names.first { $0.utf8.elementsEqual(letters) && !$0.utf8.elementsEqual(method.utf8) }
  }

  /// The usual method that differs from this one in one letter, or has two in another order.
  package static func near(_ method: String) -> String? {
    names.first { isOneSlip(Array($0.utf8), Array(method.utf8)) }
  }

  private static func isOneSlip(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    let start = zip(left, right).prefix { $0 == $1 }.count
    let (left, right) = (left[start...], right[start...])
    let end = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
    let (old, new) = (left.dropLast(end), right.dropLast(end))
    if old.count == 2, new.count == 2 { return old.elementsEqual(new.reversed()) }
    return max(old.count, new.count) == 1
  }
}
