extension String {
  /// Whether both are the same bytes. Strings are equal that are only equivalent: "K" and the Kelvin sign, for example.
  func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension [String: Int32] {
  /// The number for a name of exactly these bytes: no other implementation takes equivalent ones for it.
  func number(ofExactly name: String) -> Int32? {
    guard let index = index(forKey: name), keys[index].isExactly(name) else { return nil }
    return values[index]
  }
}
