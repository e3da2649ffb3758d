import SwitchboardCall

/// What the tracer of an attempt wants: to ask it each time would retain it.
struct TracingSettings {
  var reportsMessages = false
  var addsHeaders = false
  var addsTraceParent = false
  /// Whether that header has the identity of the call's stamp.
  var sendsStamp = false
  /// Whether the call's tracer follows the attempt.
  var isLean = false
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
    } else if request.tracer != nil {
      // To unwrap it would count a reference.
      if let attempt = request.tracer?.attemptStarts(request.method, after: request.previousAttempts) {
        startTracing(attempt)
      } else {
        tracing.isLean = true
        followStamp()
      }
    } else if let observer = channel.options.observer {
      let headers = request.options?.initialMetadata ?? HPACKHeaders()
      tracer = PlainTracer(
        observer,
        ObservedCall(method: request.method, headers: headers, isServer: false)
      )
    }
  }

  func startTracing(_ tracer: consuming any AttemptTracer) {
    tracing.isLean = false
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

  /// The attempt's tracer, for what is rarely reported.
  var attemptTracer: (any AttemptTracer)? {
    tracing.isLean ? request.tracer?.tracer(ofAttempt: request.method) : tracer
  }

  func endTracing(_ status: GRPCStatus) {
    guard request.stamp.wantsEnd, tracing.isLean || tracer != nil else { return }
    let end = ObservedEnd(status: status, sent: body.totals, received: inbound.totals)
    if tracing.isLean {
      request.tracer?.attemptEnded(end, request.method, request.stamp)
    } else {
      tracer.take()?.ended(end, request.stamp)
    }
  }
}
