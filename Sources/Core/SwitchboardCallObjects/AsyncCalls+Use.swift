import SwitchboardCall

// Calls that end with a closure: whatever it does, none is left open. Generated clients have a method for each.

extension AsyncClientStreamingCall {
  /// Passes the call to `body`, whose end is the end of the requests. Returns the response.
  ///
  /// If `body` throws, or its task is cancelled, the call is cancelled. If the server answers before that, the answer
  /// counts.
  ///
  /// ```swift
  /// let reply = try await client.collect { call in
  ///   for note in notes { try await call.requestStream.send(note) }
  /// }
  /// ```
  nonisolated(nonsending) public func use(
    _ body: nonisolated(nonsending) (Self) async throws -> Void
  ) async throws -> Response {
    try await handle.cancellingOnFailure {
      do {
        try await body(self)
      } catch {
        guard error is GRPCStatus, hasEnded else { throw error }
      }
      requestStream.finish()
      return try await response
    }
  }

  /// Whether the call has ended, so that its response says more than the failure to send another request.
  private var hasEnded: Bool { requestStream.isCutOff || handle.record.hasEnded }
}

extension AsyncServerStreamingCall {
  /// Passes the call to `body`, and cancels it at the end, unless the server has ended it. From then on, reading its
  /// responses throws.
  ///
  /// ```swift
  /// let first = try await client.expand(request) { call in
  ///   try await call.responseStream.first { !$0.text.isEmpty }
  /// }
  /// ```
  nonisolated(nonsending) public func use<Result>(
    _ body: nonisolated(nonsending) (Self) async throws -> Result
  ) async throws -> Result {
    defer { responseStream.close(.leftScope) }
    return try await handle.cancellingOnFailure {
      let result = try await body(self)
      handle.leaveScope()
      return result
    }
  }
}

extension AsyncBidirectionalStreamingCall {
  /// Passes the call to `body`. When that returns, the requests end, and the end of the call is awaited: if it fails, this
  /// throws its status. If `body` has read responses, but not all, the call is cancelled instead; if it has read none, they
  /// are dropped. From then on, reading responses throws.
  ///
  /// If `body` throws, or its task is cancelled, the call is cancelled. With `call.cancel()`, `body` ends a call whose
  /// server does not end it.
  ///
  /// ```swift
  /// let answer = try await client.update { call in
  ///   try await call.requestStream.send(question)
  ///   return try await call.responseStream.first { _ in true }
  /// }
  /// ```
  nonisolated(nonsending) public func use<Result>(
    _ body: nonisolated(nonsending) (Self) async throws -> Result
  ) async throws -> Result {
    defer { responseStream.close(.leftScope) }
    return try await handle.cancellingOnFailure {
      let result = try await body(self)
      requestStream.finish()
      try await awaitEnd()
      return result
    }
  }

  /// Waits for the end of the call, unless it was read. Who has stopped reading has seen enough, so that a further response
  /// cancels the call. Who has read nothing has only written: the server must get all of it.
  private nonisolated(nonsending) func awaitEnd() async throws {
    guard !responseStream.endWasRead else { return }
    let hasSeenEnough = responseStream.wasRead
    var responses = responseStream.makeAsyncIterator()
    do {
      while try await responses.next(isolation: nil) != nil {
        if hasSeenEnough { return handle.leaveScope() }
      }
    } catch let status as GRPCStatus where status == .cancelledByCaller && !Task.isCancelled {
      // By the closure, which knows.
    }
  }
}

extension CallHandle {
  /// Ends the call, unless it has ended: its closure is over.
  fileprivate func leaveScope() { call.cancel(.leftScope) }

  /// Cancels the call if `body` throws, and as soon as its task is cancelled.
  fileprivate nonisolated(nonsending) func cancellingOnFailure<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    try await withTaskCancellationHandler {
      do {
        return try await body()
      } catch {
        leaveScope()
        throw error
      }
    } onCancel: {
      cancel()
    }
  }
}
