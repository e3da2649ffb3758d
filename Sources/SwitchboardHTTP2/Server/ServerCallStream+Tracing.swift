import SwitchboardCall

// MARK: - Following the call

extension ServerCallStream {
  /// Starts the handler.
  @inline(__always)
  func run(_ start: () -> Void) {
    if hasContext, let deadline { tracer?.handlerStarts(deadline: deadline) }
    start()
  }

  func bindContext() -> Bool {
    guard hasContext, let tracer else { return false }
    TaskContext.bind(tracer)
    return true
  }

  func observe(_ method: MethodDescriptor) {
    guard tracer == nil else { return }
    isTraced = true
    guard let maker = connection.tracer else {
      let call = ObservedCall(method: method, headers: head.metadata, isServer: true)
      tracer = connection.core.options.observer.map { PlainTracer($0, call) }
      return
    }
    let tracer = maker.callStarted(method, head.plainMetadata, head.traceParent, &stamp)
    hasContext = tracer.isContext
    reportsMessages = tracer.wantsMessages
    self.tracer = consume tracer
    guard reportsMessages, let tracer = self.tracer else { return }
    body.keepSizes()
    // Requests may have arrived already: the only one, or the first of a stream, whose sizes are not stored.
    let earlier = inbound.totals
    for _ in 0..<earlier.messages {
      let size = flow == nil ? inbound.single.byteCount : earlier.bytes / earlier.messages - 5
      tracer.messageReceived(max(0, size))
    }
  }

  func endTracing(_ status: GRPCStatus) {
    guard isTraced, let tracer else { return }
    isTraced = false
    tracer.ended(ObservedEnd(status: status, sent: body.totals, received: inbound.totals), stamp)
  }
}
