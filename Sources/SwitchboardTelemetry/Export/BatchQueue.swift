import SwitchboardCall

/// A queue of spans or log records for one exporter, bounded in number and memory. A task exports them in batches. Adding
/// never waits.
final class BatchQueue<Item: Sendable>: SignalExport {
  private struct State: Sendable {
    var items: [(item: Item, cost: Int)] = []
    /// The cost of the items that wait and of those that are being exported.
    var cost = 0
    var drops = TelemetryDrops()
    /// Whether an item was dropped since the queue last had room for a batch.
    var isOverflowing = false
    var sleep: Task<Void, Never>?
    var isClosed = false
    /// The number of items that were added, that a batch has taken, and that were exported or lost.
    var added = 0
    var taken = 0
    var settled = 0
    /// A flush waits until this many items were taken.
    var wanted = 0

    var isFlushing: Bool { taken < wanted }
  }

  let lane: ExportLane
  private let options: BatchOptions
  private let time: ExportTime
  private let makeBatch: @Sendable ([Item]) -> ExportBatch
  private let state = Locked(State())
  private let worker = Locked<Task<Void, Never>?>(nil)

  init(
    _ options: BatchOptions,
    _ time: ExportTime,
    _ lane: ExportLane,
    _ makeBatch: @escaping @Sendable ([Item]) -> ExportBatch
  ) {
    self.options = options.usable
    self.time = time
    self.lane = lane
    self.makeBatch = makeBatch
    worker.withLock { $0 = Task(executorPreference: time.loop) { await self.run() } }
  }

  var drops: TelemetryDrops {
    var drops = state.withLock { $0.drops }
    drops.notExported = lane.lostCount
    return drops
  }

  func add(_ item: Item, cost: Int) {
    let (sleep, isNews): (Task<Void, Never>?, Bool) = state.withLock { state in
      guard !state.isClosed else {
        state.drops.shutDown += 1
        return (nil, false)
      }
      // Items that are being exported have their place until they are settled.
      guard state.added - state.settled < options.queueSize, state.cost + cost <= options.queueBytes else {
        state.drops.queueFull += 1
        defer { state.isOverflowing = true }
        return (nil, !state.isOverflowing)
      }
      state.items.append((item, cost))
      state.cost += cost
      state.added += 1
      return (state.items.count == options.batchSize ? state.sleep : nil, false)
    }
    sleep?.cancel()
    if isNews { lane.reportOverflow() }
  }

  private func run() async {
    while await waitForWork() {
      // The first batch may be small, because its items have waited for the delay. Later ones wait until they are full.
      var least = 1
      while let batch = take(least) {
        least = options.batchSize
        await lane.export(batch.batch)
        state.withLock { state in
          state.settled += batch.count
          state.cost -= batch.cost
          if state.items.count < options.batchSize { state.isOverflowing = false }
        }
      }
    }
  }

  /// Returns after the delay, or as soon as there is a whole batch. Returns `false` once the queue is closed and empty.
  private func waitForWork() async -> Bool {
    let sleep: Task<Void, Never>? = state.withLock { state in
      guard !state.isClosed, !state.isFlushing, state.items.count < options.batchSize else { return nil }
      let sleep = Task(executorPreference: time.loop) { [time, delay = options.delay] in
        _ = await time.sleep(delay)
      }
      state.sleep = sleep
      return sleep
    }
    await sleep?.value
    return state.withLock { state in
      state.sleep = nil
      return !state.isClosed || !state.items.isEmpty
    }
  }

  /// Takes a batch. Returns `nil` if there are fewer than `least` items and nothing waits for them.
  private func take(_ least: Int) -> (batch: ExportBatch, count: Int, cost: Int)? {
    let items: [(item: Item, cost: Int)] = state.withLock { state in
      guard state.items.count >= least || state.isFlushing || state.isClosed else { return [] }
      let items = Array(state.items.prefix(options.batchSize))
      state.items.removeFirst(items.count)
      state.taken += items.count
      return items
    }
    guard !items.isEmpty else { return nil }
    return (makeBatch(items.map(\.item)), items.count, items.reduce(0) { $0 + $1.cost })
  }

  func flush(until end: ContinuousClock.Instant) async {
    let (target, sleep) = state.withLock { state in
      state.wanted = state.added
      return (state.added, state.sleep)
    }
    sleep?.cancel()
    while state.withLock({ $0.settled < target }), time.now < end {
      guard await time.sleep(.milliseconds(5)) else { return }
    }
  }

  func stop() {
    let sleep = state.withLock { state in
      state.isClosed = true
      state.drops.shutDown += state.items.count
      state.items = []
      return state.sleep
    }
    sleep?.cancel()
    worker.withLock { $0 }?.cancel()
  }

  func waitForEnd() async { await worker.withLock { $0 }?.value }
}

extension BatchOptions {
  /// The options with values that would make the queue hold nothing, or export without a pause, replaced.
  fileprivate var usable: BatchOptions {
    var options = self
    options.queueSize = max(1, queueSize)
    options.batchSize = min(max(1, batchSize), options.queueSize)
    options.delay = max(delay, .milliseconds(10))
    return options
  }
}
