import SwitchboardCall

// Delivers responses to the handler. A file of its own, so that programs without such calls need not contain it: linkers
// keep what is in the file of a class.
extension HandledCall {
  func run(_ started: Started, _ writes: AsyncStream<Request>) {
    let queue = queue
    let credit = credit
    let writing = Task { [weak self] in
      for await message in writes {
        guard let requests = started.requests, (try? await requests.send(message)) != nil else { return }
        self?.state.withLock { $0.unsent -= 1 }
        await queue.notify { $0.wroteMessage() }
      }
      started.requests?.finish()
    }
    Task { [weak self] in
      if let headers = try? await started.call.initialMetadata {
        await queue.notify { $0.receivedInitialMetadata(headers) }
      }
      await Self.read(started, queue, credit)
      let status = await started.call.status
      let trailers = (try? await started.call.trailingMetadata) ?? HPACKHeaders()
      self?.state.withLock { state in
        state.writes?.finish()
        state.writes = nil
      }
      // The last `wroteMessage` comes before `closed`.
      await writing.value
      await queue.notify { $0.closed(trailingMetadata: trailers, error: status.isOk ? nil : status) }
    }
  }

  private static func read(_ started: Started, _ queue: HandlerQueue<Response>, _ credit: Credit) async {
    // A failed call ends even if the handler requests no more responses.
    let opening = Task {
      if await !started.call.status.isOk { credit.add(.max) }
    }
    defer { opening.cancel() }
    do {
      switch started.responses {
      case .one(let response):
        let message = try await response()
        try await credit.take()
        await queue.notify { $0.receivedMessage(message) }
      case .stream(let stream):
        for try await message in stream {
          try await credit.take()
          await queue.notify { $0.receivedMessage(message) }
        }
      }
    } catch {
      // The status reports the error.
      started.call.cancel()
    }
  }
}
