import SwitchboardCall

/// What the tracer of an attempt wants: to ask it each time would retain it.
struct TracingSettings {
  var reportsMessages = false
  var addsHeaders = false
  var addsTraceParent = false
  /// Whether that header has the identity of the call's stamp.
  var sendsStamp = false
  /// Whether the header `traceparent` is added when the others are sent.
  var awaitsTraceParent = false
}

// MARK: - Following the attempt

extension ClientCallStream {
  /// The call begins.
  @inline(__always)
  func startTracing() {
    if !request.stamp.needsTracer {
      followStamp()
    } else if let call = request.tracer {
      startTracing(call.attemptStarts(request.method, after: request.previousAttempts))
    } else if let observer = channel.options.observer {
      let headers = request.options?.initialMetadata ?? HPACKHeaders()
      tracer = PlainTracer(
        observer,
        ObservedCall(method: request.method, headers: headers, isServer: false)
      )
    }
  }

  func startTracing(_ tracer: consuming any AttemptTracer) {
    if request.stamp.isLean {
      followStamp()
    } else {
      tracing.addsHeaders = tracer.addsHeaders
      tracing.addsTraceParent = tracer.traceParent(request.stamp) != nil
      tracing.reportsMessages = tracer.wantsMessages
      if tracing.reportsMessages { body.keepSizes() }
    }
    self.tracer = tracer
  }

  /// The attempt adds what the call's stamp says.
  @inline(__always)
  private func followStamp() {
    tracing.addsTraceParent = request.stamp.identity.span != 0
    tracing.sendsStamp = true
  }

  func endTracing(_ status: GRPCStatus) {
    guard let tracer = tracer.take(), request.stamp.wantsEnd else { return }
    let end = ObservedEnd(status: status, sent: body.totals, received: inbound.totals)
    tracer.ended(end, request.stamp)
  }
}
