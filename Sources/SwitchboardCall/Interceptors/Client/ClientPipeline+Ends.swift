extension ClientPipeline {
  /// Hands what has passed the chain to the transport.
  @inlinable
  func leave(_ part: GRPCClientRequestPart<Request>, _ promise: EventLoopPromise<Void>?) {
    switch part {
    case .metadata(let headers):
      // Only now have the interceptors had their say.
      if chosen != nil || hasChosenFormat { codec.chooseFormat(self) }
      send(metadata: headers, promise)
    case .message(let message, let metadata):
      do {
        send(try chosen?.encode(message) ?? codec.encode(message), metadata, promise)
      } catch {
        failToEncode(error, promise)
      }
    case .end:
      sendEnd(promise)
    }
  }

  /// Starts a call that takes one request, from any thread.
  @inlinable
  func start(_ request: consuming Request) {
    guard eventLoop.isHere else {
      let request = request
      return eventLoop.execute { self.start(request) }
    }
    guard begin() else { return }
    sendFirst(.metadata(metadata))
    sendFirst(.message(consume request, MessageMetadata()))
    sendFirst(.end)
    watchDeadline()
  }

  /// Starts a call that takes one request and gives one response, and waits for it. The response is kept within the chain,
  /// which costs less than an object of its own.
  @inlinable
  nonisolated(nonsending) func response(to request: Request) async throws -> Response {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { continuation in
        caller = continuation
        start(request)
      }
    } onCancel: {
      cancelByCaller()
    }
  }

  /// Starts a call that streams its requests, from any thread.
  @inlinable
  func startStream() {
    guard eventLoop.isHere else { return eventLoop.execute { self.startStream() } }
    guard begin() else { return }
    sendFirst(.metadata(metadata))
    watchDeadline()
  }

  /// How requests that stream are written to the chain, behind the interceptor at `index`.
  @inlinable
  func makeWriter(after index: Int = -1) -> PartWriter<Request> {
    PartWriter(eventLoop) {
      try self.nextGate(after: index)
    } send: { request, metadata in
      self.send(.message(request, metadata), promise: nil, to: index + 1)
    }
  }

  /// No request follows.
  @inlinable
  func finishRequests() {
    send(.end, promise: nil, to: 0)
  }
}
