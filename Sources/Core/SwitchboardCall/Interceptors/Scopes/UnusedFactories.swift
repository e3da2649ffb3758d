/// The factories of registries that no server, or no channel, was given. Their interceptors run nowhere, and a guard that does
/// not run looks like one that lets calls pass.
package final class UnusedFactories: Sendable {
  /// Those of the registries of the process.
  package static let ofProcess = UnusedFactories()

  /// Who takes factories from a registry.
  package enum User: Sendable {
    case server, channel
  }

  /// A program that makes registries forever must not fill the memory.
  private static let most = 256
  private static let mostShown = 10

  private struct Entry: Sendable {
    let registry: Int
    let user: User
    let name: String
  }

  private struct State: Sendable {
    var lastRegistry = 0
    var entries: [Entry] = []
  }

  private let state = Locked(State())

  package init() {}

  /// Returns the number of a new registry.
  func addRegistry() -> Int {
    state.withLock { state in
      state.lastRegistry += 1
      return state.lastRegistry
    }
  }

  func add(_ factory: Any, of registry: Int, for users: [User]) {
    let name = "\(type(of: factory))"
    state.withLock { state in
      guard state.entries.count < Self.most else { return }
      state.entries += users.map { Entry(registry: registry, user: $0, name: name) }
    }
  }

  /// The registry has a user of this kind.
  func remove(of registry: Int, for user: User) {
    state.withLock { $0.entries.removeAll { $0.registry == registry && $0.user == user } }
  }

  /// The registry has had a user, and is gone.
  func remove(of registry: Int) {
    state.withLock { $0.entries.removeAll { $0.registry == registry } }
  }

  /// Reports the factories that were meant for users of this kind, to one that was made without a registry. Once.
  package func report(to user: User, _ logger: Logger) {
    let (who, options, level): (String, String, LogLevel) =
      user == .server ? ("server", "ServerOptions", .error) : ("channel", "ChannelOptions", .warning)
    guard logger.logs(level), case let names = take(for: user), !names.isEmpty else { return }
    logger.log(
      level,
      "interceptors were registered, and do not run in a \(who) whose options name no registry",
      [
        "interceptors": Self.shown(names),
        "hint":
          "set \(options).interceptorRegistry to the registry, or to InterceptorRegistry() for none of them",
      ]
    )
  }

  private static func shown(_ names: [String]) -> String {
    var distinct: [String] = []
    for name in names where !distinct.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      distinct.append(name)
    }
    let first = distinct.prefix(mostShown).joined(separator: ", ")
    return distinct.count > mostShown ? "\(first) and \(distinct.count - mostShown) more" : first
  }

  private func take(for user: User) -> [String] {
    state.withLock { state in
      let names = state.entries.filter { $0.user == user }.map(\.name)
      state.entries.removeAll { $0.user == user }
      return names
    }
  }
}
