import SwitchboardText

/// Assigns unique Swift names to the methods of a service.
enum MethodNames {
  /// Members that clients, providers and method lists already have, and words that cannot follow a dot.
  private static let reserved: Set<String> = [
    "Interceptors", "Protocol", "Self", "Type", "callbacks", "channel", "defaultCallOptions", "dynamicType",
    "fakeResponses", "init", "interceptors",
    "methodHandlers", "reflectionData", "self", "serverIsShuttingDown", "serviceName",
  ]

  /// The names for methods declared as `names`, whose calls are made by `makeCalls`, without backticks. No two of them
  /// differ in the case of their first letter only.
  static func assign(to names: [String], besides makeCalls: [String], keepsCasing: Bool) -> [String] {
    let candidates = names.map { keepsCasing ? $0 : lowercasingFirst($0) }
    var taken = reserved.union(makeCalls)
    let others = Set(candidates)
    return candidates.map { candidate in
      var name = candidate.isAllUnderscores ? candidate + "__" : candidate
      while taken.contains(name) || (name != candidate && others.contains(name)) { name += "_" }
      taken.insert(name)
      return name
    }
  }

  /// `GetURL` to `getURL`: only the first letter changes, as in grpc-swift.
  private static func lowercasingFirst(_ name: String) -> String {
    guard let first = name.utf8.first else { return name }
    return String(decoding: CollectionOfOne(first.lowercased), as: UTF8.self) + name.dropFirst()
  }
}
