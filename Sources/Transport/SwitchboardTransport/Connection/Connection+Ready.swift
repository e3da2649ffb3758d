// unsafe: state confined to the connection's loop

// Streams process what they are ready for once the session has processed what was read.

extension ConnectionParts {
  /// Schedules the stream's `processReady`. A session must have listed the stream.
  final func streamIsReady(_ stream: StreamEntry) {
    guard !stream.isReady else { return }
    stream.isReady = true
    ready.append(stream)
  }
}

extension Connection {
  func processReady() {
    // A stream may close the connection here, which calls this method again.
    while !ready.isEmpty {
      var streams: [StreamEntry] = []
      swap(&streams, &ready)
      for stream in streams { stream.isReady = false }
      let count = process(&streams)
      guard count == streams.count else { return postpone(streams[count...]) }
      guard ready.isEmpty else { continue }
      streams.removeAll(keepingCapacity: streams.count <= 256)
      swap(&streams, &ready)
    }
  }

  /// Leaves streams to the next turn of the loop, so that other connections have theirs.
  private func postpone(_ streams: ArraySlice<StreamEntry>) {
    // What was read is overwritten by then.
    for stream in streams { Unmanaged.passUnretained(stream).withStream { $0.keepLent() } }
    // Some may be in the list again.
    let others = streams.filter { !$0.isReady }
    for stream in others { stream.isReady = true }
    ready.insert(contentsOf: others, at: 0)
    guard !isPostponed else { return }
    isPostponed = true
    loop.run(.task(self))
  }

  /// Goes on with streams that were left to this turn.
  func runOnLoop() {
    isPostponed = false
    processReady()
    guard !isClosed else { return }
    watchHeaders()
    setNeedsFlush()
  }
}
