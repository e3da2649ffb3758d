import SwitchboardCall

// MARK: - Following the attempt

extension ClientCallStream {
  /// The call begins.
  @inline(__always)
  func startTracing() {
    if let call = request.tracer {
      startTracing(call.attemptStarts(after: request.previousAttempts))
    } else if let observer = channel.options.observer {
      let headers = request.options?.initialMetadata ?? HPACKHeaders()
      tracer = PlainTracer(
        observer,
        ObservedCall(method: request.method, headers: headers, isServer: false)
      )
    }
  }

  func startTracing(_ tracer: any AttemptTracer) {
    self.tracer = tracer
    if tracer.wantsMessages { body.keepSizes() }
  }

  func endTracing(_ status: GRPCStatus) {
    guard let tracer = tracer.take() else { return }
    tracer.ended(ObservedEnd(status: status, sent: body.totals, received: inbound.totals))
  }
}
