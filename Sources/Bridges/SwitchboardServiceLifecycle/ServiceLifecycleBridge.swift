// Empty unless the environment asks for it. The tests compile this file over a stand-in with the package's signatures.
#if ServiceLifecycle
  public import Switchboard

  #if BridgeStandIns
    public import BridgeStandIns
  #else
    public import ServiceLifecycle
  #endif

  /// A server as a service of swift-service-lifecycle: it serves until the group shuts down gracefully, and then lets calls
  /// finish.
  ///
  /// ```swift
  /// let server = try Server(providers: [ShopProvider()])
  /// try server.bind(host: "0.0.0.0", port: 50051)
  /// let group = ServiceGroup(services: [ServerService(server)], gracefulShutdownSignals: [.sigterm], logger: logger)
  /// try await group.run()
  /// ```
  public struct ServerService: Service {
    private let server: Server
    private let grace: Duration

    /// Runs a server that is bound. Calls may finish within `grace`.
    public init(_ server: Server, grace: Duration = .seconds(30)) {
      self.server = server
      self.grace = grace
    }

    public func run() async throws {
      // Also throws if the task is cancelled, which ends the server at once.
      do {
        try await gracefulShutdown()
      } catch {
        await server.shutDown(grace: .zero)
        throw error
      }
      await server.shutDown(grace: grace)
    }
  }
#endif
