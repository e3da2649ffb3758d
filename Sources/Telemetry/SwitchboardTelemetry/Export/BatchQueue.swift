import SwitchboardCall

/// A queue of spans or log records for one exporter, bounded in number and memory. A task exports them in batches. Adding
/// never waits, not even for a long queue to be moved.
final class BatchQueue<Item: Sendable>: SignalExport {
  private typealias Entry = (item: Item, cost: Int)

  private struct State: Sendable {
    var progress = ExportProgress()
    /// What was added since the worker last took everything.
    var arrivals = Queue<Entry>()
    /// The cost of the items that wait and of those that are being exported.
    var cost = 0
    var drops = TelemetryDrops()
    /// Whether an item was dropped since the queue last had room for a batch.
    var isOverflowing = false
  }

  let lane: ExportLane
  private let options: BatchOptions
  /// Items that cost this much are worth a request. There may be too few of them for a batch.
  private let enoughCost: Int
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
    enoughCost = max(1, min(ExportBatch.costLimit, options.queueBytes / 2))
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
    let (pause, isNews): (ExportProgress.Wait?, Bool) = state.withLock { state in
      guard !state.progress.isClosed else {
        state.drops.shutDown += 1
        return (nil, false)
      }
      // Items that are being exported have their place until they are settled.
      guard state.progress.unsettled < options.queueSize, state.cost + cost <= options.queueBytes else {
        state.drops.queueFull += 1
        defer { state.isOverflowing = true }
        return (nil, !state.isOverflowing)
      }
      state.arrivals.append((item, cost))
      state.cost += cost
      state.progress.add()
      return (hasBatch(state) ? state.progress.wakeWorker() : nil, false)
    }
    pause?.cancel()
    if isNews { lane.reportOverflow() }
  }

  /// Whether there is reason to export before the delay is over, if nothing is being exported.
  private func hasBatch(_ state: State) -> Bool {
    state.progress.waiting >= options.batchSize || state.cost >= enoughCost
  }

  private func run() async {
    var stock = Queue<Entry>()
    while await waitForWork() {
      // The first batch may be small, because its items have waited for the delay. Later ones wait until they are full.
      var least = 1
      while let batch = take(least, from: &stock) {
        least = options.batchSize
        await lane.export(makeBatch(batch.map(\.item)))
        let flushes = state.withLock { state in
          state.cost -= batch.reduce(0) { $0 + $1.cost }
          if state.progress.waiting < options.batchSize { state.isOverflowing = false }
          return state.progress.settle(batch.count)
        }
        for flush in flushes { flush.cancel() }
      }
    }
    state.withLock { $0.arrivals.removeAll() }
  }

  /// Returns after the delay, or as soon as there is a whole batch. Returns `false` once the queue is closed.
  private func waitForWork() async -> Bool {
    let pause: ExportProgress.Wait? = state.withLock { state in
      let isReady = state.progress.isClosed || state.progress.isFlushing || hasBatch(state)
      return isReady ? nil : state.progress.pause(options.delay, time)
    }
    await pause?.value
    return state.withLock { !$0.progress.isClosed }
  }

  /// Takes a batch. Returns `nil` if there are fewer than `least` items and nobody waits for them. The lock is never
  /// held for longer than it takes to exchange two queues.
  private func take(_ least: Int, from stock: inout Queue<Entry>) -> [Entry]? {
    let count = state.withLock { state in
      let isDue = state.progress.waiting >= least || state.progress.isFlushing
      return isDue ? state.progress.take(upTo: options.batchSize) : 0
    }
    var batch: [Entry] = []
    for _ in 0..<count {
      if stock.isEmpty { state.withLock { swap(&stock, &$0.arrivals) } }
      if let entry = stock.popFirst() { batch.append(entry) }
    }
    return batch.isEmpty ? nil : batch
  }

  func flush(until end: ContinuousClock.Instant) async {
    await state.withLock { $0.progress.flush(until: end, time) }?.end()
  }

  func stop() {
    let waits = state.withLock { state in
      state.drops.shutDown += state.progress.waiting
      return state.progress.close()
    }
    for wait in waits { wait.cancel() }
    worker.withLock { $0 }?.cancel()
  }

  func waitForEnd() async { await worker.withLock { $0 }?.value }
}

extension BatchOptions {
  /// The options as `BatchOptions` documents them.
  fileprivate var usable: BatchOptions {
    var options = self
    options.batchSize = min(batchSize, queueSize)
    options.delay = max(delay, .milliseconds(10))
    return options
  }
}
