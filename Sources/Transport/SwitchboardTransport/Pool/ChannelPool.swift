import SwitchboardCall
import SwitchboardNetwork

/// Creates channels for clients that name a host. Calls with the same host, credentials and channel arguments share a
/// channel, and so a connection.
///
/// Clients use the process's pool unless they are given one. That pool cannot be configured, so independent users in a
/// process do not disturb each other; `channelPoolDomain` keeps a user's channels separate. Make a pool to choose the
/// threads, the logger or the idle timeout.
///
/// ```swift
/// let pool = try ChannelPool(idleTimeout: .seconds(60))
/// let channel = Channel(host: "greeter.example:443", pool: pool)
/// let client = Hello_GreeterClient(channel: channel)
/// ```
public final class ChannelPool: Sendable {
  /// Identifies a channel.
  struct Signature: Hashable, Sendable {
    let host: String
    let arguments: ChannelArguments
    /// Calls stay on their client's loop, even if they are redirected to another host.
    let loop: ObjectIdentifier
  }

  private struct State {
    var channels: [Signature: PooledChannel] = [:]
    var watches: [Signature: Task<Void, Never>] = [:]
    var isShutDown = false
  }

  private let group: LoopGroup
  private let idleTimeout: Duration
  private let time: any CallTime
  private let logger: Logger
  let observer: (any CallObserver)?
  private let state = Locked(State())

  /// The pool of clients without a pool of their own; created for the first of them.
  static let ofProcess = Result<ChannelPool, GRPCStatus> { () throws(GRPCStatus) in try ChannelPool() }

  /// Closes unused channels after `idleTimeout`, or up to half of it later. Connections run on the loops of `group`, or
  /// on a loop of the pool's own.
  public convenience init(
    idleTimeout: Duration = .seconds(30),
    group: LoopGroup? = nil,
    logger: Logger = .standardError,
    observer: (any CallObserver)? = nil
  ) throws(GRPCStatus) {
    try self.init(
      idleTimeout: idleTimeout,
      group: group,
      logger: logger,
      observer: observer,
      time: SystemTime()
    )
  }

  package init(
    idleTimeout: Duration,
    group: LoopGroup? = nil,
    logger: Logger = .standardError,
    observer: (any CallObserver)? = nil,
    time: any CallTime
  ) throws(GRPCStatus) {
    try OptionRange.above(.zero).check(idleTimeout, "idleTimeout", because: "a channel is idle at first")
    if let group { self.group = group } else { self.group = try LoopGroup() }
    self.idleTimeout = idleTimeout
    self.logger = logger
    self.observer = observer
    self.time = time
  }

  deinit {
    let state = state.withLock { $0 }
    for watch in state.watches.values { watch.cancel() }
    for channel in state.channels.values { channel.retire() }
  }

  /// The number of channels, used or not.
  package var channelCount: Int { state.withLock { $0.channels.count } }

  /// Refuses new calls and lets calls in flight finish within `grace`, of which less than zero is zero.
  public func shutDown(grace: Duration = .seconds(30)) async {
    let (channels, watches) = state.withLock { state in
      state.isShutDown = true
      defer {
        state.channels = [:]
        state.watches = [:]
      }
      return (Array(state.channels.values), Array(state.watches.values))
    }
    for watch in watches { watch.cancel() }
    await withTaskGroup { closing in
      for channel in channels { closing.addTask { await channel.shutDown(grace: grace) } }
    }
  }

  /// Logs that what a host's channel was made with is not among the options of its calls.
  func report(lost names: [String], of host: String) {
    guard !names.isEmpty else { return }
    logger.log(
      .warning,
      "options of calls were given to Channel(host:options:), which passes them on to no call",
      [
        "options": names.joined(separator: ", "), "target": host,
        "hint": "give them to the client, as defaultCallOptions",
      ]
    )
  }

  // MARK: Channels

  /// The loop for calls to a host, always the same one, so that they can share connections.
  func loop(for host: String) -> Loop {
    let loops = group.loops
    return loops[Int(UInt(bitPattern: host.hashValue) % UInt(loops.count))]
  }

  /// The channel for these options, created if it does not exist.
  func channel(
    to host: String,
    _ arguments: ChannelArguments,
    on loop: Loop
  ) throws(GRPCStatus) -> PooledChannel {
    let signature = Signature(host: host, arguments: arguments, loop: ObjectIdentifier(loop))
    let result: Result<PooledChannel, GRPCStatus> = state.withLock { state in
      if state.isShutDown { return .failure(.poolShutDown) }
      if let known = state.channels[signature] { return .success(known) }
      let made = Result { () throws(GRPCStatus) in try makeChannel(to: host, arguments, loop) }
      if case .success(let channel) = made {
        state.channels[signature] = channel
        state.watches[signature] = watch(signature, channel)
      }
      return made
    }
    return try result.get()
  }

  private func makeChannel(
    to host: String,
    _ arguments: ChannelArguments,
    _ loop: Loop
  ) throws(GRPCStatus) -> PooledChannel {
    var options = try ChannelOptions(arguments)
    options.logger = logger.adding(arguments.pool.options.logContext)
    options.observer = observer
    for remark in arguments.remarks {
      options.logger.log(.warning, "CallOptions: \(remark)", ["target": host])
    }
    return PooledChannel(try HTTP2ClientTransport(target: host, options: options, group: group, loop: loop))
  }

  // MARK: Idleness

  /// Checks a channel from time to time, and closes it if it was not used since the last check.
  private func watch(_ signature: Signature, _ channel: PooledChannel) -> Task<Void, Never> {
    Task { [weak self, weak channel, time, interval = idleTimeout / 2] in
      var idleChecks = 0
      var usesBefore = 0
      while (try? await time.sleep(until: time.deadline(after: interval).time)) != nil {
        guard let now = await channel?.unusedSince(usesBefore) else { return }
        idleChecks = now.isUnused ? idleChecks + 1 : 0
        usesBefore = now.uses
        guard idleChecks >= 2 else { continue }
        guard let self else { return }
        if self.close(signature, uses: usesBefore) { return }
        idleChecks = 0
      }
    }
  }

  /// Closes a channel, unless it has been used since. Transports that still refer to it request a new one.
  private func close(_ signature: Signature, uses: Int) -> Bool {
    let channel: PooledChannel? = state.withLock { state in
      guard let channel = state.channels[signature], channel.end(after: uses) else { return nil }
      state.channels[signature] = nil
      state.watches[signature] = nil
      return channel
    }
    channel?.retire()
    return channel != nil
  }
}

extension GRPCStatus {
  static let poolShutDown = endOfChannel("the channel pool was shut down")
}
