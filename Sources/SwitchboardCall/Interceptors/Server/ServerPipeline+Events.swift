// What goes through the chain beside parts.
extension ServerPipeline {
  @usableFromInline
  func errorCaught(_ error: any Error, at index: Int) {
    guard eventLoop.isHere else {
      return eventLoop.execute { self.errorCaught(error, at: index) }
    }
    guard isOpen else { return }
    guard index <= chain.last else { return failHandler(GRPCStatus(describing: error)) }
    if let executor = sideWork?.executors?[index].requests {
      return hop(executor, index) { $0.errorCaught(error, context: $1) }
    }
    chain.interceptors[index].errorCaught(error, context: Context(self, index))
  }

  /// A handler that runs learns of the failure from its requests or its cancellation, and answers; where none
  /// runs, or it has no requests to wait for, the answer is given for it.
  func failHandler(_ status: GRPCStatus) {
    if let streamed, streamed.hasHandler { streamed.queue.finish(status) } else { finish(status) }
  }

  /// Asks for so many requests, where they stream.
  @usableFromInline
  func receiveNextMessages(_ count: Int, to index: Int) {
    guard eventLoop.isHere else {
      return eventLoop.execute { self.receiveNextMessages(count, to: index) }
    }
    guard isOpen else { return }
    guard index >= 0 else { return addDemand(count) }
    if let executor = sideWork?.executors?[index].responses {
      return hop(executor, index) { $0.receiveNextMessages(count, context: $1) }
    }
    chain.interceptors[index].receiveNextMessages(count, context: Context(self, index))
  }

  /// Where streamed responses wait that come from the interceptor at `index`, or from the handler behind the last.
  @usableFromInline
  func nextGate(before index: Int) throws -> InterceptorGate {
    guard isOpen else { throw GRPCStatus.callEnded }
    let next = sideWork?.gates.last { $0.index < index }
    return InterceptorGate(executors: sideWork?.room, queue: next?.queue() ?? stream.responses)
  }
}

// MARK: - What the handler answers, from any thread

// Always inlined: left to itself the compiler calls their unspecialised form, at three times the cost.
extension ServerPipeline {
  @inlinable @inline(__always)
  func respondHere(_ response: consuming Response) {
    guard eventLoop.isHere else {
      let response = response
      return eventLoop.execute { self.respondOnLoop(response) }
    }
    respondOnLoop(consume response)
  }

  @inlinable @inline(__always)
  func respondOnLoop(_ response: consuming Response) {
    if let decodingFailure { return finish(decodingFailure) }
    sendMetadata()
    sendFirst(.message(consume response, MessageMetadata()))
    isHandling = false
    sendFirst(.end(.ok, trailers))
    if isTransportClosed { closeIfDone() }
  }

  @inlinable
  func finish(_ status: GRPCStatus) {
    guard eventLoop.isHere else { return eventLoop.execute { self.finish(status) } }
    let status = status.isOk ? decodingFailure ?? status : status
    if status.isOk || !initialMetadata.isEmpty { sendMetadata() }
    isHandling = false
    sendFirst(.end(status, trailers))
    if isTransportClosed { closeIfDone() }
  }

  /// Sends the handler's metadata before what follows it, unless that was done. On the loop.
  @inlinable @inline(__always)
  func sendMetadata() {
    guard !hasSentMetadata else { return }
    hasSentMetadata = true
    waitsForMessage = true
    sendFirst(.metadata(initialMetadata))
    waitsForMessage = false
  }
}
