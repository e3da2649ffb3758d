import SwitchboardCall

/// A queue of spans or log records, bounded in number and memory. A task exports them in batches. Adding never waits.
final class BatchQueue<Item: Sendable>: Sendable {
  private struct State: Sendable {
    var items: [(item: Item, cost: Int)] = []
    /// The cost of the items that wait and of those that are being exported.
    var cost = 0
    var dropped = 0
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

  private let options: BatchOptions
  private let time: ExportTime
  private let makeBatch: @Sendable ([Item]) -> ExportBatch
  private let lanes: [ExportLane]
  private let state = Locked(State())
  private let worker = Locked<Task<Void, Never>?>(nil)

  init(
    _ options: BatchOptions,
    _ time: ExportTime,
    _ lanes: [ExportLane],
    _ makeBatch: @escaping @Sendable ([Item]) -> ExportBatch
  ) {
    self.options = options.usable
    self.time = time
    self.lanes = lanes
    self.makeBatch = makeBatch
    guard !lanes.isEmpty else { return }
    worker.withLock { $0 = Task(executorPreference: time.loop) { await self.run() } }
  }

  /// The number of items that were dropped because the queue was full.
  var droppedCount: Int { state.withLock { $0.dropped } }
  var count: Int { state.withLock { $0.items.count } }

  func add(_ item: Item, cost: Int) {
    guard !lanes.isEmpty else { return }
    let sleep: Task<Void, Never>? = state.withLock { state in
      guard !state.isClosed, state.items.count < options.queueSize, state.cost + cost <= options.queueBytes
      else {
        state.dropped += 1
        return nil
      }
      state.items.append((item, cost))
      state.cost += cost
      state.added += 1
      return state.items.count == options.batchSize ? state.sleep : nil
    }
    sleep?.cancel()
  }

  private func run() async {
    while await waitForWork() {
      // The first batch may be small, because its items have waited for the delay. Later ones wait until they are full.
      var least = 1
      while let batch = take(least) {
        least = options.batchSize
        // Exports to all at once, so that one collector that is down does not delay the others for long.
        await withTaskGroup { group in
          for lane in lanes { group.addTask { await lane.export(batch.batch) } }
        }
        state.withLock { state in
          state.settled += batch.count
          state.cost -= batch.cost
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

  /// Returns once everything that was added before is exported or lost, or at `end`.
  func flush(until end: ContinuousClock.Instant) async {
    guard !lanes.isEmpty else { return }
    let (target, sleep) = state.withLock { state in
      state.wanted = state.added
      return (state.added, state.sleep)
    }
    sleep?.cancel()
    while state.withLock({ $0.settled < target }), time.now < end {
      guard await time.sleep(.milliseconds(5)) else { return }
    }
  }

  /// Closes the queue. Exports what waits, as far as there is time before `end`, and drops the rest. Cancels an export
  /// that takes longer, and returns after it.
  func close(until end: ContinuousClock.Instant) async {
    await flush(until: end)
    stop()
    await worker.withLock { $0 }?.value
  }

  /// Closes the queue, drops what waits and cancels the current export.
  func stop() {
    let sleep = state.withLock { state in
      state.isClosed = true
      state.dropped += state.items.count
      state.items = []
      return state.sleep
    }
    sleep?.cancel()
    worker.withLock { $0 }?.cancel()
  }
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
