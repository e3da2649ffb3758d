// unsafe: state confined to the connection's loop

import SwitchboardCall
import SwitchboardNetwork
import Synchronization

/// The shared state of all connections of a server.
final class ServerCore: @unchecked Sendable {
  // Sendable because each connection is used only on its own loop, and the table of connections has a lock.
  let options: ServerOptions
  let router: Router
  let crossOrigin: CrossOrigin?
  /// The observer of the options, if it is telemetry.
  let telemetry: (any TelemetryObserver)?
  /// The dialects besides gRPC, in the order in which they are asked.
  let dialects: [any Dialect]
  let methods: RPCMethods
  let providers: [any CallHandlerProvider]
  let group: LoopGroup
  private let state = Locked(State())
  private let tls: Locked<TLSContexts?>
  let abandoned: AbandonedHandlers
  let log: ServerLog
  /// The calls that did not end within the grace of a shutdown.
  let cutOff = CutOffCalls()
  /// What handlers learn of when `beginDraining` is called.
  let shutdown = ShutdownSignal()
  private let blocks: BlockReporter?
  /// The number of handlers of pages that have not returned.
  private let pagesInProgress = Atomic(0)

  private struct State: @unchecked Sendable {
    var connections: [ObjectIdentifier: ServerConnection] = [:]
    var listeners: [(number: Int, listener: Listener)] = []
    var closingListeners = 0
    /// The calls of closed connections, by loop. Each entry changes only on its loop.
    var pastCalls: [ObjectIdentifier: CallTotals] = [:]
    var lastNumber = 0
    /// How many signals had ended runs of servers when this one first listened.
    var signalsWhenBound: Int?
    var isDraining = false
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// Whether a server that is draining has closed everything.
    var isEmpty: Bool { connections.isEmpty && closingListeners == 0 }

    /// Those who wait for that, once.
    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
      guard isEmpty else { return [] }
      defer { waiters = [] }
      return waiters
    }
  }

  init(_ providers: [any CallHandlerProvider], _ options: ServerOptions, _ group: LoopGroup)
    throws(GRPCStatus)
  {
    var options = try options.checked()
    // Other servers may have the same logger.
    options.logger = options.logger.withOwnLevel
    self.options = options
    abandoned = AbandonedHandlers(limit: options.maxAbandonedHandlers)
    log = ServerLog(options)
    telemetry = options.observer as? any TelemetryObserver
    crossOrigin = try options.web.map { web throws(GRPCStatus) in try CrossOrigin(web) }
    router = try Router(providers, options)
    methods = RPCMethods(router: router, pages: try HTTPPages(options.pages))
    dialects = try options.makeDialects(for: methods)
    options.reportDoubts(methods)
    let allowsHTTP1 = !dialects.isEmpty
    let logger = options.logger
    tls = Locked(
      try options.tls.map { options throws(GRPCStatus) in
        try TLSContexts(server: options, allowsHTTP1: allowsHTTP1, logger: logger)
      }
    )
    self.providers = providers
    self.group = group
    blocks = BlockReporter(self.options, router.methods)
    let remarks = options.remarks(on: providers) + (tls.withLock { $0?.latest?.remarks } ?? [])
    for remark in remarks { options.logger.log(remark, of: "ServerOptions") }
    // Nothing can fail any more.
    telemetry?.serverWasMade()
    router.serverWasMade(of: providers, self.options, isInProcess: false)
    if let blocks { LoopWatchdog.shared.watch(group.loops, for: blocks) }
  }

  deinit {
    if let blocks { LoopWatchdog.shared.unwatch(for: blocks) }
  }

  var sessionSettings: SessionSettings {
    SessionSettings(
      maxConcurrentStreams: options.maxConcurrentStreams,
      streamWindow: options.streamLookahead,
      connectionWindow: options.connectionWindow,
      windowLimit: options.maxWindow,
      unreadLimit: options.connectionBufferSize,
      maxHeaderListSize: options.maxMetadataSize,
      controlFrameAllowance: options.controlFrameAllowance,
      // Several times as many frames as the responses of all streams need.
      unsentFrameLimit: 1000 + 4 * options.maxConcurrentStreams
    )
  }

  /// Whether clients may speak HTTP/1.1: gRPC itself cannot.
  var allowsHTTP1: Bool { !dialects.isEmpty }

  /// `nil` without TLS.
  var tlsContexts: TLSContexts? { tls.withLock { $0 } }

  /// Reloads the certificates from their sources.
  func reloadTLS() throws(GRPCStatus) {
    guard let source = tlsContexts?.serverOptions else { throw .serverWithoutTLS }
    guard source.hasFiles else {
      throw source.hasProvider ? .certificatesOfProvider : .certificatesWithoutFiles
    }
    try replaceTLS(source)
  }

  func replaceTLS(_ options: ServerTLS) throws(GRPCStatus) {
    guard tlsContexts != nil else { throw .serverWithoutTLS }
    if state.withLock(\.isDraining) { throw .wasShutDown }
    let logger = self.options.logger
    let contexts = try TLSContexts(server: options, allowsHTTP1: allowsHTTP1, logger: logger)
    for remark in contexts.latest?.remarks ?? [] { logger.log(remark, of: "ServerTLS") }
    tls.withLock { $0 = contexts }
  }

  /// Takes over an accepted socket, on its loop.
  func accept(_ descriptor: Int32, _ kind: SocketAddress.Kind, peer: SocketAddress?, on loop: Loop) {
    guard let socket = Socket.adopt(descriptor, kind, on: loop) else { return }
    guard let connection = ServerConnection(self, loop: loop, socket: socket, peer: peer) else {
      return socket.close()
    }
    if options.makesRoomForConnections, connectionCount >= options.maxConnections { closeIdlest(on: loop) }
    let refusal: GRPCStatus? = state.withLock { state in
      if state.isDraining { return .serverStopped }
      if state.connections.count >= options.maxConnections { return .tooManyConnections }
      state.connections[ObjectIdentifier(connection)] = connection
      return nil
    }
    guard let refusal else { return connection.start() }
    if refusal == .tooManyConnections { connection.report(.connectionLimit) }
    connection.close(refusal)
  }

  /// Closes the connection of a loop that has been without a call for the longest time; else the one without a handler, whose
  /// request is not whole, or whose response is not read.
  private func closeIdlest(on loop: Loop) {
    let unused = connections.filter { $0.loop === loop && $0.runningHandlers == 0 }
    let idlest = unused.min { ($0.openStreams, $0.lastCallEnd) < ($1.openStreams, $1.lastCallEnd) }
    guard let idlest else { return }
    idlest.report(.connectionLimit)
    idlest.close(.connectionUnused)
  }

  func connectionDidClose(_ connection: ServerConnection) {
    let waiters: [CheckedContinuation<Void, Never>] = state.withLock { state in
      state.connections[ObjectIdentifier(connection)] = nil
      state.pastCalls[ObjectIdentifier(connection.loop), default: CallTotals()].add(connection.counters)
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The open connections. Use each one only on its own loop.
  var connections: [ServerConnection] { state.withLock { Array($0.connections.values) } }

  var connectionCount: Int { state.withLock { $0.connections.count } }

  /// Whether it accepts no more calls.
  var isDraining: Bool { state.withLock(\.isDraining) }

  /// The number of handlers of pages from which on a connection may have one only. A client that asks for many pages,
  /// on any number of connections, thus does not keep others from theirs.
  private static let pageLimit = 256

  /// Counts a page, unless too many are in progress. `isOnly`: no other handler of its connection runs.
  func mayStartPage(isOnly: Bool) -> Bool {
    guard pagesInProgress.add(1, ordering: .relaxed).oldValue < Self.pageLimit || isOnly else {
      pageDidEnd()
      return false
    }
    return true
  }

  func pageDidEnd() { pagesInProgress.subtract(1, ordering: .relaxed) }

  /// Registers a listener. Returns `false` if the server has already stopped.
  func add(_ listener: Listener) -> Bool {
    let number = nextNumber()
    return state.withLock { state in
      state.signalsWhenBound = state.signalsWhenBound ?? SignalCount.current
      if !state.isDraining { state.listeners.append((number, listener)) }
      return !state.isDraining
    }
  }

  /// Whether the server has ever listened.
  var wasBound: Bool { state.withLock { $0.signalsWhenBound != nil } }

  /// Whether a signal has ended the run of another server since this one listens.
  var wasBoundBeforeLastSignal: Bool {
    state.withLock { $0.signalsWhenBound.map { $0 < SignalCount.current } ?? false }
  }

  /// Ends a server that nothing refers to any more. If it is serving, that was hardly meant.
  func wasReleased() {
    let listeners = self.listeners
    if !listeners.isEmpty {
      options.logger.log(
        .warning,
        "a server that listens was released, so it accepts nothing any more: keep it, or await its run()",
        ["addresses": listeners.map { "\($0.address)" }.joined(separator: ", ")]
      )
    }
    beginDraining()
  }

  /// Removes a listener that could not be started.
  func remove(_ listener: Listener) {
    state.withLock { $0.listeners.removeAll { $0.listener === listener } }
  }

  /// A unique number for a listener or a connection.
  func nextNumber() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// The listeners, in the order in which they were bound, with their numbers.
  var listeners: [(number: Int, address: SocketAddress)] {
    state.withLock { $0.listeners.map { ($0.number, $0.listener.address) } }
  }

  /// The calls of closed connections. Call on the loop.
  func pastCalls(of loop: Loop) -> CallTotals {
    state.withLock { $0.pastCalls[ObjectIdentifier(loop)] ?? CallTotals() }
  }

  /// Stops accepting and asks every connection to end once its calls have.
  func beginDraining() {
    let (isFirst, listeners, connections) = state.withLock { state in
      defer {
        state.isDraining = true
        state.closingListeners += state.listeners.count
        state.listeners = []
      }
      return (!state.isDraining, state.listeners, Array(state.connections.values))
    }
    for (_, listener) in listeners { listener.close { self.listenerDidClose() } }
    for connection in connections { onLoop(of: connection) { $0.drain() } }
    guard isFirst else { return }
    for provider in providers { provider.serverIsShuttingDown() }
    shutdown.begin()
  }

  private func listenerDidClose() {
    let waiters = state.withLock { state in
      state.closingListeners -= 1
      return state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Closes all connections, whose calls end with them.
  func closeAll() {
    let connections = state.withLock { Array($0.connections.values) }
    for connection in connections { onLoop(of: connection) { $0.cutOff() } }
  }

  /// Says why a shutdown does not end, although its grace is over.
  func shutdownIsLate(_ grace: Duration) {
    let (isOver, open) = state.withLock { ($0.isEmpty, $0.connections.count) }
    guard !isOver else { return }
    options.logger.log(
      .warning,
      "a shutdown goes on after its grace: an event loop cannot close its connections, because a handler, or something else, "
        + "blocks it",
      [
        "grace": grace.readable, "connections": "\(open)",
        "hint":
          "a handler that does not return after its call was cancelled occupies its loop: leave its loop once "
          + "Task.isCancelled is true, and let the errors of Task.sleep out",
      ]
    )
  }

  private func onLoop(of connection: ServerConnection, _ body: @escaping @Sendable (ServerConnection) -> Void)
  {
    // The connection is passed to its own loop, the only place where it is used.
    nonisolated(unsafe) let connection = connection
    connection.loop.execute { body(connection) }
  }

  /// Returns once no connection is open, and, of a server that is draining, nothing listens.
  func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if state.isEmpty { return true }
        state.waiters.append(continuation)
        return false
      }
      if isEmpty { continuation.resume() }
    }
  }

  /// Lets clients read the last responses. If the process ended before, the system would discard what they have not read.
  func waitForGracefulCloses() async {
    for loop in group.loops { await loop.waitForGracefulCloses() }
  }
}

extension GRPCStatus {
  static let tooManyConnections = GRPCStatus(
    code: .resourceExhausted,
    message: "the server has reached its maximum number of connections",
    origin: .library
  )
  static let serverWithoutTLS = GRPCStatus(
    code: .failedPrecondition,
    message: "the server was made without TLS"
  )
  static let certificatesWithoutFiles = GRPCStatus(
    code: .failedPrecondition,
    message:
      "reloadCertificates() reads files again, and this server's certificates were given as bytes: "
      + "call reload(_:) with new ones"
  )
  static let certificatesOfProvider = GRPCStatus(
    code: .failedPrecondition,
    message:
      "reloadCertificates() reads files again, and this server's certificates come from a provider, which has others for "
      + "new connections by itself"
  )
  static let serverStopped = GRPCStatus(
    code: .unavailable,
    message: "the server was stopped",
    origin: .library
  )
}
