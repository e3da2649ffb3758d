import SwitchboardCall

// MARK: - Following the call

extension ServerCallStream {
  /// Starts the handler, with the context that the call's tracer gives.
  @inline(__always)
  func run(_ start: () -> Void) {
    guard hasContext, let context else { return start() }
    if let deadline { tracer?.handlerStarts(deadline: deadline) }
    isContextBound = true
    TaskContext.with(context, start)
    isContextBound = false
  }

  /// What the handler finds as its context.
  var context: (any AnyObject & Sendable)? { tracer?.context }

  func observe(_ method: MethodDescriptor) {
    guard tracer == nil else { return }
    guard let maker = connection.tracer else {
      let call = ObservedCall(method: method, headers: head.metadata, isServer: true)
      tracer = connection.core.options.observer.map { PlainTracer($0, call) }
      return
    }
    let tracer = maker.callStarted(method, head.plainMetadata, head.traceParent, &stamp)
    hasContext = connection.givesContext
    tellsMessages = tracer.wantsMessages
    self.tracer = tracer
    guard tellsMessages else { return }
    body.keepSizes()
    // Requests may have arrived already: the only one, or the first of a stream, whose sizes are not stored.
    let earlier = inbound.totals
    for _ in 0..<earlier.messages {
      let size = flow == nil ? inbound.single.byteCount : earlier.bytes / earlier.messages - 5
      tracer.messageReceived(max(0, size))
    }
  }

  func endTracing(_ status: GRPCStatus) {
    guard let tracer = tracer.take() else { return }
    tracer.ended(ObservedEnd(status: status, sent: body.totals, received: inbound.totals), stamp)
  }
}
