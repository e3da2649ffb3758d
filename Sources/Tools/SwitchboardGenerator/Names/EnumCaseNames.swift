import SwitchboardText

/// Assigns the Swift names of an enum's values.
enum EnumCaseNames {
  /// The names of `values` in the enum `name`; nil for an alias whose name would equal that of the original.
  static func assign(to values: [(name: String, number: Int32)], of name: String) -> [String?] {
    var users: [String: [Int]] = [:]
    let candidates = values.map { CamelCase.lower(stripping(name, from: $0.name)) }
    for (index, candidate) in candidates.enumerated() { users[candidate, default: []].append(index) }

    var taken: Set<String> = []
    return values.indices.map { index in
      let number = values[index].number
      let sharing = users[candidates[index]] ?? []
      let suffix = number < 0 ? "_n\(number.magnitude)" : "_\(number)"
      let isAmbiguous = sharing.contains { values[$0].number != number }
      var name = ReservedWords.caseName(isAmbiguous ? candidates[index] + suffix : candidates[index])
      // If several names for one number become the same in Swift, only the first gets a case.
      if let first = sharing.first(where: { values[$0].number == number }), first != index { return nil }
      while !taken.insert(name).inserted { name = name.withoutBackticks + suffix }
      return name
    }
  }

  /// Removes the name of the enum from the start of a value's name, ignoring case and `_`. The name stays whole if the
  /// rest would be empty or begin with a digit.
  static func stripping(_ prefix: String, from name: String) -> String {
    var rest = name.utf8[...]
    for byte in prefix.utf8 where byte != UInt8(ascii: "_") {
      rest = rest.drop { $0 == UInt8(ascii: "_") }
      guard let first = rest.popFirst(), first.lowercased == byte.lowercased else { return name }
    }
    rest = rest.drop { $0 == UInt8(ascii: "_") }
    guard let first = rest.first, first.isLetter else { return name }
    return String(decoding: rest, as: UTF8.self)
  }
}
