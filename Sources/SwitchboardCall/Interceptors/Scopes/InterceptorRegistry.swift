/// Interceptor factories for all channels and servers whose options name the registry.
///
/// `process` is for programs that want the same interceptors everywhere. It affects no channel or server that does not
/// name it, so that a program and the libraries in its process do not disturb each other. Parts of a process can share
/// interceptors through further registries.
///
/// The first channel or server that uses a registry freezes it, so that all of them have the same factories from the
/// first call to the last.
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

  private struct State: Sendable {
    var factories: [any InterceptorFactory]
    var isFrozen = false
  }

  private let state: Locked<State>

  /// Creates a separate registry that starts with `factories`.
  public init(_ factories: [any InterceptorFactory] = []) {
    state = Locked(State(factories: factories))
  }

  /// Adds a factory after the others. Throws `FAILED_PRECONDITION` if the registry is frozen.
  public func register(_ factory: any InterceptorFactory) throws(GRPCStatus) {
    let isAdded = state.withLock { state in
      guard !state.isFrozen else { return false }
      state.factories.append(factory)
      return true
    }
    guard isAdded else { throw .registryIsFrozen }
  }

  /// The registered factories, in order.
  package var factories: [any InterceptorFactory] { state.withLock { $0.factories } }

  /// Whether the registry is in use and can no longer change.
  package var isFrozen: Bool { state.withLock { $0.isFrozen } }

  /// Freezes the registry and returns its factories.
  package func freeze() -> [any InterceptorFactory] {
    state.withLock { state in
      state.isFrozen = true
      return state.factories
    }
  }
}

extension GRPCStatus {
  static let registryIsFrozen = GRPCStatus(
    code: .failedPrecondition,
    message: "interceptors were registered after a channel or a server had begun to use the registry"
  )
}
