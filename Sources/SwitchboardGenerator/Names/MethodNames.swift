/// Gives the methods of a service their names in Swift, all different.
enum MethodNames {
  /// What a client, a provider or the list of methods has already, and what cannot follow a dot.
  private static let reserved: Set<String> = [
    "Protocol", "Self", "Type", "channel", "defaultCallOptions", "dynamicType", "init", "interceptors",
    "methodHandlers", "reflectionData", "self", "serverIsShuttingDown", "serviceName",
  ]

  /// The names for methods that are declared as `names`, without backticks.
  static func assign(to names: [String], keepsCasing: Bool) -> [String] {
    let wanted = names.map { keepsCasing ? $0 : lowercasingFirst($0) }
    var users: [String: Int] = [:]
    for name in wanted { users[name, default: 0] += 1 }
    // Those that would differ in nothing stay as they are declared.
    let candidates = zip(names, wanted).map { declared, name in users[name, default: 0] > 1 ? declared : name
    }
    var taken = reserved.union(names.map { "make\($0)Call" })
    let others = Set(candidates)
    return candidates.map { candidate in
      var name = candidate.isAllUnderscores ? candidate + "__" : candidate
      while taken.contains(name) || (name != candidate && others.contains(name)) { name += "_" }
      taken.insert(name)
      return name
    }
  }

  /// `GetURL` as `getURL`: what is behind the first letter stays, as Swift's gRPC users know it.
  private static func lowercasingFirst(_ name: String) -> String {
    guard let first = name.utf8.first else { return name }
    return String(decoding: CollectionOfOne(first.lowercased), as: UTF8.self) + name.dropFirst()
  }
}
