// unsafe: state confined to the connection's loop

import SwitchboardCall

// MARK: - Following the call

extension ServerCallStream {
  var taskContext: (any ContextSource)? { trace.hasContext ? self : nil }

  // Not inlined where the handler is found, because the method would be retained there.
  @inline(never)
  func observe(_ handler: MethodHandler) { connection.observe(self, handler.method) }

  /// The same handler, which tells what watches the call of its stages.
  @inline(never)
  func watched(_ handler: MethodHandler) -> MethodHandler {
    connection.tracer?.stageWatch(of: trace.tracer).map(handler.watched) ?? handler
  }

  @inline(never)
  fileprivate func observePlainly(_ method: MethodDescriptor) {
    guard let observer = connection.core.options.observer else { return }
    trace.follow(ObservedCall(method: method, headers: head.metadata, isServer: true), for: observer)
  }

  @inline(never)
  fileprivate func reportMessages() {
    response.body.keepSizes()
    // Requests may have arrived already.
    if let tracer = trace.tracer { request.reportEarlier(to: tracer, areStreamed: flow != nil) }
  }

  func endTracing(_ status: GRPCStatus) {
    guard isTraced, trace.stamp.wantsEnd else { return }
    isTraced = false
    let end = ObservedEnd(status: status, sent: response.body.totals, received: inbound.totals)
    if let tracer = trace.tracer { return tracer.ended(end, trace.stamp) }
    trace.method?._withUnsafeGuaranteedRef { connection.callEnded(self, end, $0) }
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
    let own = tracer?.callStarted(
      method,
      stream.head.plainMetadata,
      number: stream.head.isCallOfDialect ? nil : stream.head.likeness.repeatedFields,
      stream.head.trace.identity ?? SpanIdentity(),
      &stream.trace.stamp
    )
    if stream.trace.follow(method, with: own, givesContext: givesContext) { stream.reportMessages() }
  }

  @inline(never)
  fileprivate func callEnded(_ stream: ServerCallStream, _ end: ObservedEnd, _ method: MethodDescriptor) {
    tracer?.callEnded(end, method, stream.trace.stamp, stream.head.plainMetadata)
  }
}

// MARK: - The handler's context

extension ServerCallStream: ContextSource {
  /// Most handlers need none, so it is made when it is first asked for, on any thread.
  var context: AnyObject? {
    let (context, isOver): ((any CallTracer & ContextSource)?, Bool) = side.withState { state in
      // What it is made of no longer changes, because the handler has started.
      if let made = state.context { return (made, state.isClosed) }
      let parent = head.trace.identity ?? SpanIdentity()
      let context = connection.tracer?.makeContext(
        of: trace.tracer,
        head.plainMetadata,
        parent,
        trace.stamp,
        deadline
      )
      if let changed = state.changedHeaders { context?.handlerReceives(changed) }
      state.context = context
      return (context, state.isClosed)
    }
    if isOver, let context { trace.endContext(context) }
    return context
  }

  func handlerReceives(_ headers: HPACKHeaders) {
    guard trace.hasContext else { return }
    let made = side.withState { state in
      state.changedHeaders = headers
      return state.context
    }
    made?.handlerReceives(headers)
  }
}
