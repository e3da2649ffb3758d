import SwitchboardCall

/// Spans or log records on their way out: bounded in number and in memory, and exported in batches by a task of its own.
/// To add one never waits.
final class BatchQueue<Item: Sendable>: Sendable {
  private struct State: Sendable {
    var items: [Item] = []
    var cost = 0
    var dropped = 0
    var sleep: Task<Void, Never>?
    var isFlushing = false
    var isClosed = false
    /// How many were added and taken; what waits for a flush compares them.
    var added = 0
    var settled = 0
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
    self.options = options
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
      state.items.append(item)
      state.cost += cost
      state.added += 1
      return state.items.count == options.batchSize ? state.sleep : nil
    }
    sleep?.cancel()
  }

  private func run() async {
    while await waitForWork() {
      while let batch = take() {
        // All at once, so that a collector that is down holds nobody else up for long.
        await withTaskGroup { group in
          for lane in lanes { group.addTask { await lane.export(batch.0) } }
        }
        state.withLock { $0.settled += batch.1 }
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

  private func take() -> (ExportBatch, Int)? {
    let items: [Item] = state.withLock { state in
      let items = Array(state.items.prefix(max(1, options.batchSize)))
      state.items.removeFirst(items.count)
      if state.items.isEmpty {
        state.cost = 0
        state.isFlushing = false
      } else {
        state.cost -= state.cost / (state.items.count + items.count) * items.count
      }
      return items
    }
    return items.isEmpty ? nil : (makeBatch(items), items.count)
  }

  /// Returns when everything that was added before is exported or lost, or when `end` has come.
  func flush(until end: ContinuousClock.Instant) async {
    guard !lanes.isEmpty else { return }
    let (target, sleep) = state.withLock { state in
      state.isFlushing = !state.items.isEmpty
      return (state.added, state.sleep)
    }
    sleep?.cancel()
    while state.withLock({ $0.settled < target }), time.now < end {
      guard await time.sleep(.milliseconds(5)) else { return }
    }
  }

  /// No more are added. What waits is exported if there is time for it before `end`.
  func close(until end: ContinuousClock.Instant) async {
    await flush(until: end)
    stop()
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
