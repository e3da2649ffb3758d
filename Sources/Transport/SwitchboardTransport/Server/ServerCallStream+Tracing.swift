// unsafe: state confined to the connection's loop

import SwitchboardCall

// MARK: - Following the call

extension ServerCallStream {
  var taskContext: (any ContextSource)? { hasContext ? self : nil }

  // Not inlined where the handler is found, because the method would be retained there.
  @inline(never)
  func observe(_ handler: MethodHandler) { connection.observe(self, handler.method) }

  @inline(never)
  fileprivate func observePlainly(_ method: MethodDescriptor) {
    let call = ObservedCall(method: method, headers: head.metadata, isServer: true)
    tracer = connection.core.options.observer.map { PlainTracer($0, call) }
  }

  @inline(never)
  fileprivate func reportMessages() {
    guard let tracer else { return }
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
    guard isTraced, stamp.wantsEnd else { return }
    isTraced = false
    let end = ObservedEnd(status: status, sent: body.totals, received: inbound.totals)
    if let tracer { return tracer.ended(end, stamp) }
    tracedMethod?._withUnsafeGuaranteedRef { connection.callEnded(end, $0, stamp) }
  }
}

// Methods of the connection, because to reach its tracer from elsewhere would count a reference.
extension ServerConnection {
  /// `method` is one that the stream's head retains, or the unknown one.
  @inline(never)
  func observe(_ stream: ServerCallStream, _ method: MethodDescriptor) {
    guard !stream.isTraced else { return }
    stream.isTraced = true
    guard tracer != nil else { return stream.observePlainly(method) }
    stream.tracedMethod = .passUnretained(method)
    stream.tracer = tracer?.callStarted(
      method,
      stream.head.plainMetadata,
      number: stream.head.isOtherCall ? nil : stream.head.repeatedFields,
      stream.head.traceParent ?? SpanIdentity(),
      &stream.stamp
    )
    stream.hasContext = givesContext
    if !stream.stamp.isLean { stream.reportMessages() }
  }

  @inline(never)
  fileprivate func callEnded(_ end: ObservedEnd, _ method: MethodDescriptor, _ stamp: CallStamp) {
    tracer?.callEnded(end, method, stamp)
  }
}

// MARK: - The handler's context

extension ServerCallStream: ContextSource {
  /// Most handlers need none, so it is made when it is first asked for, on any thread.
  var context: AnyObject? {
    let (context, isOver): ((any ServerCallTracer & ContextSource)?, Bool) = shared.withLock { shared in
      // What it is made of no longer changes, because the handler has started.
      if let made = shared.context { return (made, shared.isClosed) }
      let parent = head.traceParent ?? SpanIdentity()
      let context = contextMaker?.makeContext(head.plainMetadata, parent, stamp, deadline)
      if let changed = shared.changedHeaders { context?.handlerReceives(changed) }
      shared.context = context
      return (context, shared.isClosed)
    }
    if isOver, let context { endContext(context) }
    return context
  }

  func handlerReceives(_ headers: HPACKHeaders) {
    guard hasContext else { return }
    let made = shared.withLock { shared in
      shared.changedHeaders = headers
      return shared.context
    }
    made?.handlerReceives(headers)
  }

  private var contextMaker: (any ContextMaker)? { tracer ?? connection.tracer }

  /// Notifies a context that its call has ended, unless it is notified as the tracer.
  func endContext(_ context: any ServerCallTracer) {
    guard context !== tracer else { return }
    context.ended(ObservedEnd(status: .callGone, sent: MessageTotals(), received: MessageTotals()), stamp)
  }
}
