import SwitchboardCall

/// Spans or log records on their way out: bounded in number and in memory, and exported in batches by a task of its own.
/// To add one never waits.
final class BatchQueue<Item: Sendable>: Sendable {
  private struct State: Sendable {
    var items: [(item: Item, cost: Int)] = []
    /// Of those that wait and of those that are being exported.
    var cost = 0
    var dropped = 0
    var sleep: Task<Void, Never>?
    var isClosed = false
    /// How many were added, taken, and exported or lost.
    var added = 0
    var taken = 0
    var settled = 0
    /// So many are wanted at once.
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

  /// How many were dropped because there was no room.
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
      // What is less than a batch waits for more, unless it has waited for the delay.
      var least = 1
      while let batch = take(least) {
        least = options.batchSize
        // All at once, so that a collector that is down holds nobody else up for long.
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

  /// Returns after the delay, or as soon as there is a whole batch. `false`: it is over.
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

  /// `nil`: there are fewer, and nobody waits for them.
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

  /// Returns when everything that was added before is exported or lost, or when `end` has come.
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

  /// No more are added. What waits is exported if there is time for it before `end`. Returns after the last export, which is
  /// cancelled if it is late.
  func close(until end: ContinuousClock.Instant) async {
    await flush(until: end)
    stop()
    await worker.withLock { $0 }?.value
  }

  /// Drops what waits, and ends.
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
  /// The same, without what would have the queue hold nothing, or export without a pause.
  fileprivate var usable: BatchOptions {
    var options = self
    options.queueSize = max(1, queueSize)
    options.batchSize = min(max(1, batchSize), options.queueSize)
    options.delay = max(delay, .milliseconds(10))
    return options
  }
}
