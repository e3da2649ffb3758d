extension String {
  /// Whether both have the same bytes. `==` also holds for strings that are only canonically equivalent, such as "K"
  /// and the Kelvin sign.
  func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension [String: Int32] {
  /// The number for a name with exactly these bytes. Other implementations do not accept equivalent names either.
  func number(ofExactly name: String) -> Int32? {
    guard let index = index(forKey: name), keys[index].isExactly(name) else { return nil }
    return values[index]
  }
}
