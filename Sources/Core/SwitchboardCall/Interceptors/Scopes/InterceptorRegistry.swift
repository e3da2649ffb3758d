/// Interceptor factories for all channels and servers whose options name the registry.
///
/// `process` is for programs that want the same interceptors everywhere. It affects no channel or server that does not
/// name it, so that a program and the libraries in its process do not disturb each other. Parts of a process can share
/// interceptors through further registries.
///
/// The first channel or server that uses a registry freezes it, so that all of them have the same factories from the
/// first call to the last.
///
/// What is registered and given to nobody runs nowhere. A server or a channel whose options name no registry says so in its
/// log while there are such factories; if it is to have none of them, let its options name an empty registry.
///
/// ```swift
/// try InterceptorRegistry.process.register(Tracing())
/// var options = ChannelOptions()
/// options.interceptorRegistry = .process
/// let channel = try Channel(target: "localhost:50051", options: options)
/// ```
public final class InterceptorRegistry: Sendable {
  /// The registry that the whole process can use.
  public static let process = InterceptorRegistry()

  /// The registered factories of each side, in order.
  package struct Factories: Sendable {
    package fileprivate(set) var client: [any ClientInterceptorFactory] = []
    package fileprivate(set) var server: [any ServerInterceptorFactory] = []
    fileprivate var isFrozen = false
  }

  private let state = Locked(Factories())
  private let unused: UnusedFactories
  private let number: Int

  /// Creates a separate registry.
  public convenience init() { self.init(.ofProcess) }

  package init(_ unused: UnusedFactories) {
    self.unused = unused
    number = unused.addRegistry()
  }

  /// What nobody has used is still reported.
  deinit { if isFrozen { unused.remove(of: number) } }

  /// Adds a factory for both sides after the others. Throws `FAILED_PRECONDITION` if the registry is frozen.
  public func register(_ factory: any InterceptorFactory) throws(GRPCStatus) {
    try add(factory, for: [.channel, .server]) { factories in
      factories.client.append(factory)
      factories.server.append(factory)
    }
  }

  /// Adds a factory for clients, in the same way.
  public func register(client factory: any ClientInterceptorFactory) throws(GRPCStatus) {
    try add(factory, for: [.channel]) { $0.client.append(factory) }
  }

  /// Adds a factory for servers, in the same way.
  public func register(server factory: any ServerInterceptorFactory) throws(GRPCStatus) {
    try add(factory, for: [.server]) { $0.server.append(factory) }
  }

  private func add(
    _ factory: Any,
    for users: [UnusedFactories.User],
    _ change: (inout Factories) -> Void
  ) throws(GRPCStatus) {
    let isAdded = state.withLock { factories in
      guard !factories.isFrozen else { return false }
      change(&factories)
      unused.add(factory, of: number, for: users)
      return true
    }
    guard isAdded else { throw .registryIsFrozen }
  }

  /// The registered factories.
  package var factories: Factories { state.withLock { $0 } }

  /// Whether the registry is in use and can no longer change.
  package var isFrozen: Bool { state.withLock { $0.isFrozen } }

  /// Freezes the registry and returns its factories, for a channel or a server.
  package func freeze(for user: UnusedFactories.User) -> Factories {
    state.withLock { factories in
      unused.remove(of: number, for: user)
      factories.isFrozen = true
      return factories
    }
  }
}

extension GRPCStatus {
  static let registryIsFrozen = GRPCStatus(
    code: .failedPrecondition,
    message: "interceptors were registered after a channel or a server had begun to use the registry"
  )
}
