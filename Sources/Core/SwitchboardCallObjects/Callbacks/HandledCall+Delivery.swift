import SwitchboardCall

// Delivers responses to the handler. A file of its own, so that programs without such calls need not contain it: linkers
// keep what is in the file of a class.
extension HandledCall {
  func run(_ started: Started, _ writes: AsyncStream<Request>) {
    let queue = queue
    let (demand, limits) = (demand, limits)
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
      let unread = await Self.read(started, queue, demand, limits)
      let status = if let unread { unread } else { await started.call.status }
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

  /// Returns the status of a call that ends while responses wait for the handler.
  private static func read(
    _ started: Started,
    _ queue: HandlerQueue<Response>,
    _ demand: ResponseDemand,
    _ limits: UnreadLimits
  ) async -> GRPCStatus? {
    let end = demand.isLimited ? unreadEnd(started.call, demand, limits) : nil
    defer { end?() }
    let pass: @Sendable (Response) async -> GRPCStatus? = { message in
      do { try await demand.take() } catch { return GRPCStatus(describing: error) }
      await queue.notify { $0.receivedMessage(message) }
      return nil
    }
    do {
      switch started.responses {
      case .one(let response):
        return await pass(try await response())
      case .stream(let stream):
        for try await message in stream {
          if let status = await pass(message) {
            started.call.cancel()
            return status
          }
        }
      }
    } catch {
      // The status reports the error.
      started.call.cancel()
    }
    return nil
  }

  /// Ends the demand when the call fails, or at its deadline, or when its channel is shut down. Returns what ends this.
  private static func unreadEnd(
    _ call: any AsyncCall,
    _ demand: ResponseDemand,
    _ limits: UnreadLimits
  ) -> @Sendable () -> Void {
    let failing = Task {
      let status = await call.status
      if !status.isOk { demand.end(status) }
    }
    // Until the server ends the call, the deadline is the transport's, which knows what the call waited for.
    let expiring = limits.atDeadline("while responses \(ResponseDemand.clause)") { status in
      if await call.status.isOk { demand.end(status) }
    }
    let number = limits.calls.add { demand.end(.shutDownUnread) }
    return {
      failing.cancel()
      expiring?.cancel()
      limits.calls.remove(number)
    }
  }
}

extension GRPCStatus {
  fileprivate static let shutDownUnread = GRPCStatus(
    code: .unavailable,
    message: "the channel was shut down while responses \(ResponseDemand.clause)",
    origin: .library
  )
}
