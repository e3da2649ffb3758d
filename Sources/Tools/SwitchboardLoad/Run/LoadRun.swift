import Switchboard

/// A run: calls on several connections and event loops. Other tasks may watch and stop it.
package final class LoadRun: Sendable {
  /// The settings of a run.
  package struct Settings: Sendable {
    package var pace: LoadPace
    package var extent: LoadExtent
    package var connections: Int
    package var loops: Int
    package var method: MethodDescriptor
    package var payloads: PayloadSource
    package var messagesPerCall = 1
    package var callOptions: CallOptions?
    /// What requests and responses are on the wire; without a name, protobuf.
    package var formats: (requests: ContentSubtype, responses: ContentSubtype) = (.unnamed, .unnamed)
    /// How long calls may take to end after the last one was started. Longer ones are cancelled and count as failed.
    /// Without a duration, a run also ends when no call has started or ended for this long.
    package var drain = Duration.seconds(20)

    package init(
      pace: LoadPace,
      extent: LoadExtent,
      connections: Int,
      loops: Int,
      method: MethodDescriptor,
      payloads: PayloadSource
    ) {
      self.pace = pace
      self.extent = extent
      self.connections = connections
      self.loops = loops
      self.method = method
      self.payloads = payloads
    }
  }

  private let workers: [LoadWorker]
  private let channels: [Channel]
  /// When the run began, by the monotonic clock.
  private let begin: UInt64
  private let extent: LoadExtent
  private let drain: Duration
  /// How long calls may take that have a deadline.
  private let timeout: Duration
  private let isStopped = Locked(false)

  /// Connects, and waits until all connections are ready. Throws the reason if one cannot be made.
  package init(
    _ settings: Settings,
    connect: @Sendable (LoopGroup) throws -> Channel
  ) async throws {
    // Each loop has a connection, and may have a call in progress.
    let loops = max(1, min(settings.loops, settings.connections, settings.pace.concurrency))
    var channels: [Channel] = []
    var shares: [[any LoadCaller]] = []
    var eventLoops: [any EventLoop] = []
    for share in 0..<loops {
      let group = try LoopGroup()
      var callers: [any LoadCaller] = []
      for _ in 0..<Self.part(share, of: settings.connections, in: loops) {
        let channel = try connect(group)
        channels.append(channel)
        callers.append(
          MethodLoadCaller(
            settings.method,
            on: channel,
            options: settings.callOptions,
            payloads: settings.payloads,
            formats: settings.formats,
            messagesPerCall: settings.messagesPerCall
          )
        )
      }
      if let channel = channels.last { eventLoops.append(channel.eventLoop) }
      shares.append(callers)
    }
    do {
      for (channel, caller) in zip(channels, shares.flatMap(\.self)) {
        try await LoadConnecting.wait(for: channel, caller)
      }
    } catch {
      for channel in channels { await channel.shutDown(grace: .zero) }
      throw error
    }
    let begin = MonotonicClock.now
    self.begin = begin
    self.channels = channels
    extent = settings.extent
    drain = settings.drain
    timeout = settings.callOptions?.timeout ?? .zero
    workers = shares.enumerated().map { share, callers in
      LoadWorker(
        callers,
        on: eventLoops[share],
        pace: settings.pace,
        extent: settings.extent,
        begin: begin,
        share: share,
        of: loops
      )
    }
  }

  private static func part(_ share: Int, of total: Int, in count: Int) -> Int {
    total / count + (share < total % count ? 1 : 0)
  }

  /// Makes the calls. Returns the measurements when all have ended.
  package func run() async -> LoadTally {
    let limit = Task {
      if extent.duration != nil {
        try await Task.sleep(for: .nanoseconds(Int64(clamping: extent.end)) + drain)
      } else {
        try await waitForStandstill()
      }
      for worker in workers { worker.stop() }
      await shutDown()
    }
    await withTaskGroup(of: Void.self) { group in
      for worker in workers { group.addTask { await worker.run() } }
    }
    limit.cancel()
    return await finish()
  }

  /// Waits until no call has started or ended for as long as one may take.
  private func waitForStandstill() async throws {
    let most = drain + timeout
    while true {
      let latest = workers.map(\.latest).max() ?? 0
      let idle = Duration.nanoseconds(Int64(clamping: MonotonicClock.now &- begin) - Int64(clamping: latest))
      guard idle < most else { return }
      try await Task.sleep(for: most - idle)
    }
  }

  /// Starts no more calls, and ends those in progress after `grace`. `run` then returns.
  package func stop(grace: Duration = .seconds(5)) async {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    for worker in workers { worker.stop() }
    try? await Task.sleep(for: grace)
    for worker in workers { worker.close() }
    await shutDown()
  }

  private func finish() async -> LoadTally {
    for worker in workers { worker.close() }
    await shutDown()
    return tally
  }

  private func shutDown() async {
    await withDiscardingTaskGroup { group in
      for channel in channels { group.addTask { await channel.shutDown(grace: .zero) } }
    }
  }

  /// The measurements so far.
  package var tally: LoadTally { workers.reduce(into: LoadTally()) { $0.add($1.tally) } }

  /// The elapsed time in nanoseconds, and its share of the run from 0 to 1; nil if the run has no end.
  package var progress: (elapsed: UInt64, share: Double?) {
    let elapsed = MonotonicClock.now &- begin
    if let duration = extent.duration {
      return (elapsed, min(1, Double(elapsed) / Double(max(1, duration &+ extent.warmUp))))
    }
    guard let calls = extent.calls else { return (elapsed, nil) }
    return (elapsed, min(1, Double(tally.calls) / Double(max(1, calls))))
  }

  /// Whether the warm-up is not over yet.
  package var isWarmingUp: Bool { MonotonicClock.now &- begin < extent.warmUp }
}

/// Waits for connections, so that a run does not measure how long connecting takes.
private enum LoadConnecting {
  static let limit = Duration.seconds(20)

  static func wait(for channel: Channel, _ caller: any LoadCaller) async throws {
    channel.connect()
    let isReady = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await state in channel.connectivity {
          if state == .ready { return true }
          if state == .transientFailure || state == .shutdown { return false }
        }
        return false
      }
      group.addTask {
        try? await Task.sleep(for: limit)
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    // The status of a call says why the connection failed.
    guard !isReady, let status = await caller.call(0).status else { return }
    throw status
  }
}
