/// Gives the values of an enum their names in Swift.
enum EnumCaseNames {
  /// The names for `values` of the enum `name`; nil for an alias that would get the name of its original.
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
      // Of several names for one number that come out the same, the first counts.
      if let first = sharing.first(where: { values[$0].number == number }), first != index { return nil }
      while !taken.insert(name).inserted { name = name.withoutBackticks + suffix }
      return name
    }
  }

  /// The name of a value without the name of the enum before it; case and `_` do not matter. It stays whole where nothing
  /// or a digit would be left.
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
