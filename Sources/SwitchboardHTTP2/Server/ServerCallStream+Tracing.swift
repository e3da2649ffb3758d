import SwitchboardCall

// MARK: - Following the call

extension ServerCallStream {
  func bindContext() -> Bool {
    guard hasContext else { return false }
    TaskContext.bind(self)
    return true
  }

  func observe(_ method: @autoclosure () -> MethodDescriptor) {
    guard !isTraced else { return }
    isTraced = true
    guard let maker = connection.tracer else {
      let call = ObservedCall(method: method(), headers: head.metadata, isServer: true)
      tracer = connection.core.options.observer.map { PlainTracer($0, call) }
      return
    }
    tracer = maker.callStarted(
      method(),
      head.plainMetadata,
      number: head.isOtherCall ? nil : head.repeatedFields,
      head.traceParent ?? SpanIdentity(),
      &stamp
    )
    hasContext = connection.givesContext
    guard !stamp.isLean, let tracer else { return }
    reportsMessages = tracer.wantsMessages
    guard reportsMessages else { return }
    body.keepSizes()
    // Requests may have arrived already: the only one, or the first of a stream, whose sizes are not stored.
    let earlier = inbound.totals
    for _ in 0..<earlier.messages {
      let size = flow == nil ? inbound.single.byteCount : earlier.bytes / earlier.messages - 5
      tracer.messageReceived(max(0, size))
    }
  }

  func endTracing(_ status: GRPCStatus) {
    guard isTraced else { return }
    isTraced = false
    guard stamp.wantsEnd, let tracer else { return }
    tracer.ended(ObservedEnd(status: status, sent: body.totals, received: inbound.totals), stamp)
  }
}

// MARK: - The handler's context

extension ServerCallStream: ContextSource {
  /// Most handlers need none, so it is made when it is first asked for, on any thread.
  var context: AnyObject? {
    let (context, isOver) = shared.withLock { shared in
      // What it is made of no longer changes, because the handler has started.
      let context =
        shared.context
        ?? contextMaker?.makeContext(head.plainMetadata, head.traceParent ?? SpanIdentity(), stamp, deadline)
      shared.context = context
      return (context, shared.isClosed)
    }
    if isOver, let context { endContext(context) }
    return context
  }

  private var contextMaker: (any ContextMaker)? { tracer ?? connection.tracer }

  /// Notifies a context that its call has ended, unless it is notified as the tracer.
  func endContext(_ context: any ServerCallTracer) {
    guard context !== tracer else { return }
    context.ended(ObservedEnd(status: .callGone, sent: MessageTotals(), received: MessageTotals()), stamp)
  }
}
