/// Factories for the calls of every channel and server that is told to use them.
///
/// `process` is there for a program that wants the same interceptors everywhere. It has no effect by itself: a
/// channel or a server uses a registry only when its options name it, so that a library in the same process is not
/// disturbed by what the program registers, nor the program by the library. Make another registry for parts of a
/// process that share interceptors among themselves.
///
/// The first channel or server that uses a registry freezes it: all of its users have the same factories, in the
/// same order, from the first call to the last.
public final class InterceptorRegistry: Sendable {
  /// The one that all of a process can reach.
  public static let process = InterceptorRegistry()

  private struct State: Sendable {
    var factories: [any InterceptorFactory]
    var isFrozen = false
  }

  private let state: Locked<State>

  /// A registry of its own, which starts with these factories.
  public init(_ factories: [any InterceptorFactory] = []) {
    state = Locked(State(factories: factories))
  }

  /// Adds a factory behind those that are there. Throws `FAILED_PRECONDITION`, and changes nothing, once the registry
  /// is frozen.
  public func register(_ factory: any InterceptorFactory) throws(GRPCStatus) {
    let isAdded = state.withLock { state in
      guard !state.isFrozen else { return false }
      state.factories.append(factory)
      return true
    }
    guard isAdded else { throw .registryIsFrozen }
  }

  /// What is registered, in order.
  public var factories: [any InterceptorFactory] { state.withLock { $0.factories } }

  /// Whether it is in use, and cannot change any more.
  public var isFrozen: Bool { state.withLock { $0.isFrozen } }

  /// What is registered now and for good.
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
