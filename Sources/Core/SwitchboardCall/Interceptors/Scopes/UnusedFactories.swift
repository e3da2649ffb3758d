/// The factories of registries that no server, or no channel, was given. Their interceptors run nowhere, and a guard that does
/// not run looks like one that lets calls pass.
package final class UnusedFactories: Sendable {
  /// Those of the registries of the process.
  package static let ofProcess = UnusedFactories()

  /// Who takes factories from a registry.
  package enum User: Sendable {
    case server, channel
  }

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
      state.entries += users.map { Entry(registry: registry, user: $0, name: name) }
    }
  }

  /// The registry has a user of this kind.
  func remove(of registry: Int, for user: User) {
    state.withLock { $0.entries.removeAll { $0.registry == registry && $0.user == user } }
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
        "interceptors": names.joined(separator: ", "),
        "hint":
          "set \(options).interceptorRegistry to the registry, or to InterceptorRegistry() for none of them",
      ]
    )
  }
  private func take(for user: User) -> [String] {
    state.withLock { state in
      let names = state.entries.filter { $0.user == user }.map(\.name)
      state.entries.removeAll { $0.user == user }
      return names
    }
  }
}
