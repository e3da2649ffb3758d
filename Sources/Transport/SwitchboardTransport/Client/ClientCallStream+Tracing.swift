import SwitchboardCall

// MARK: - Following the attempt

extension ClientCallStream {
  /// The call begins.
  @inline(__always)
  func startTracing() {
    if !request.stamp.needsTracer {
      trace.followStamp(request.stamp)
    } else if request.tracer != nil {
      // To unwrap it would count a reference.
      if let attempt = request.tracer?.attemptStarts(request.method, after: request.previousAttempts) {
        startTracing(attempt)
      } else {
        trace.followLeanly(request.stamp)
      }
    } else if let observer = channel.options.observer {
      let headers = request.options?.initialMetadata ?? HPACKHeaders()
      trace.follow(ObservedCall(method: request.method, headers: headers, isServer: false), for: observer)
    }
  }

  func startTracing(_ tracer: consuming any AttemptTracer) {
    trace.follow(tracer, request.stamp)
    if trace.reportsMessages { body.keepSizes() }
  }

  /// The attempt's tracer, for what is rarely reported.
  var attemptTracer: (any AttemptTracer)? {
    trace.isLean ? request.tracer?.tracer(ofAttempt: request.method) : trace.tracer
  }

  func endTracing(_ status: GRPCStatus) {
    guard request.stamp.wantsEnd, trace.isLean || trace.tracer != nil else { return }
    let end = ObservedEnd(status: status, sent: body.totals, received: inbound.totals)
    if trace.isLean {
      request.tracer?.attemptEnded(
        end,
        request.method,
        request.stamp,
        at: server.subchannel?.shown ?? "",
        request.options?.initialMetadata
      )
    } else {
      trace.end()?.ended(end, request.stamp)
    }
  }
}
