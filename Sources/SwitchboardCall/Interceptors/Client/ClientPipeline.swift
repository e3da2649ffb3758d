/// The chain of interceptors of one call on the client, between the caller and the transport.
///
/// ```
///   caller ──send──> [0] ──> [1] ──> … ──> marshaller ──> transport
///   caller <─────── [0] <── [1] <── … <── marshaller <─receive── transport
/// ```
/// It is open until an `end` reaches the caller; whatever is sent afterwards fails its promise.
@usableFromInline
final class ClientPipeline<Request: Sendable, Response: Sendable>: @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone; the methods hop to it. Unchecked
  // exclusivity holds because no access lasts while other code runs.

  @usableFromInline typealias ToTransport = (GRPCClientRequestPart<Request>, EventLoopPromise<Void>?) -> Void
  @usableFromInline typealias ToCaller = (GRPCClientResponsePart<Response>) -> Void

  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let transport: ClientTransportEnd
  @exclusivity(unchecked) @usableFromInline var interceptors: [ClientInterceptor<Request, Response>]
  // Closures, so that the code at both ends is compiled for the types of the call: methods of a generic
  // class would not be.
  @exclusivity(unchecked) @usableFromInline var toTransport: ToTransport?
  @exclusivity(unchecked) @usableFromInline var toCaller: ToCaller?
  /// The format that the options asked for, in place of the method's own.
  @exclusivity(unchecked) @usableFromInline var chosen: ChosenFormat<Request, Response>?
  @exclusivity(unchecked) @usableFromInline var isOpen = true
  @exclusivity(unchecked) @usableFromInline var hasStarted = false
  @exclusivity(unchecked) @usableFromInline var cancelledEarly: GRPCStatus?
  @exclusivity(unchecked) @usableFromInline var alarm: Task<Void, Never>?

  @inlinable
  init(
    _ channel: Channel,
    _ method: MethodDescriptor,
    _ options: CallOptions?,
    _ interceptors: [ClientInterceptor<Request, Response>]
  ) {
    eventLoop = channel.eventLoop
    transport = ClientTransportEnd(channel.engine, method, options ?? CallOptions())
    self.interceptors = interceptors
  }

  // MARK: Parts

  @inlinable
  func send(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?, to index: Int) {
    guard eventLoop.inEventLoop else {
      return eventLoop.execute { self.send(part, promise: promise, to: index) }
    }
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    if index < interceptors.count {
      interceptors[index].send(part, promise: promise, context: ClientInterceptorContext(self, index))
    } else {
      toTransport?(part, promise)
    }
  }

  @inlinable
  func receive(_ part: GRPCClientResponsePart<Response>, at index: Int) {
    guard eventLoop.inEventLoop else {
      return eventLoop.execute { self.receive(part, at: index) }
    }
    guard isOpen else { return }
    if index >= 0 {
      interceptors[index].receive(part, context: ClientInterceptorContext(self, index))
    } else {
      deliver(part)
    }
  }

  @usableFromInline
  func errorCaught(_ error: any Error, at index: Int) {
    guard eventLoop.inEventLoop else {
      return eventLoop.execute { self.errorCaught(error, at: index) }
    }
    guard isOpen else { return }
    if index >= 0 {
      interceptors[index].errorCaught(error, context: ClientInterceptorContext(self, index))
    } else {
      deliver(.end(GRPCStatus(describing: error), HPACKHeaders()))
    }
  }

  @usableFromInline
  func cancel(promise: EventLoopPromise<Void>?, to index: Int) {
    guard eventLoop.inEventLoop else {
      return eventLoop.execute { self.cancel(promise: promise, to: index) }
    }
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    if index < interceptors.count {
      interceptors[index].cancel(promise: promise, context: ClientInterceptorContext(self, index))
    } else {
      transport.cancel(.cancelledByCaller)
      promise?.succeed()
    }
  }

  @inlinable
  func deliver(_ part: GRPCClientResponsePart<Response>) {
    let toCaller = toCaller
    if case .end = part { close() }
    toCaller?(part)
  }

  // MARK: Start and end

  /// Begins the call. `false` when it was cancelled before: then it has ended.
  @inlinable
  func begin() -> Bool {
    hasStarted = true
    guard let cancelledEarly else { return true }
    deliver(.end(cancelledEarly, HPACKHeaders()))
    return false
  }

  func giveUp(_ status: GRPCStatus) {
    guard isOpen else { return }
    guard hasStarted else {
      cancelledEarly = status
      return
    }
    cancel(promise: nil, to: 0)
    if isOpen { deliver(.end(status, HPACKHeaders())) }
  }

  /// Neighbours let go of each other, and with them of every part that an interceptor kept.
  @inlinable
  func close() {
    isOpen = false
    toTransport = nil
    toCaller = nil
    if let alarm {
      alarm.cancel()
      self.alarm = nil
    }
    transport.close()
    interceptors = []
  }

  /// While the transport has the call, it watches the deadline; a chain that keeps the call to itself must not
  /// escape it.
  @inlinable
  func watchDeadline() {
    guard isOpen, alarm == nil, let deadline = transport.deadline, !transport.isLive else { return }
    watch(deadline)
  }

  @usableFromInline
  func watch(_ deadline: ContinuousClock.Instant) {
    alarm = Task(executorPreference: eventLoop) { [weak self] in
      try? await Task.sleep(until: deadline, clock: .continuous)
      if !Task.isCancelled { self?.deadlinePassed() }
    }
  }

  /// Where streamed requests wait for the network. A chain that still holds the metadata back has none yet.
  @usableFromInline
  func writablePipe() throws -> MessagePipe {
    guard isOpen else { throw GRPCStatus.callEnded }
    return transport.requests ?? MessagePipe(limit: 1)
  }

  private func deadlinePassed() {
    guard isOpen else { return }
    transport.cancel(.deadlinePassed)
    if isOpen { deliver(.end(.deadlinePassed, HPACKHeaders())) }
  }
}

// MARK: - For the caller, from any thread

extension ClientPipeline: ByteCall {
  /// Whoever makes the chain starts it, with its first parts.
  @usableFromInline
  func start() {}

  @usableFromInline
  func cancel(_ status: GRPCStatus) {
    eventLoop.execute { self.giveUp(status) }
  }

  @inlinable
  func cancelByCaller() { cancel(.cancelledByCaller) }

  /// Writing has failed: because the call ended, which then says so itself, or because of the writer, whose
  /// error ends the call.
  @usableFromInline
  func stopWriting(_ error: any Error) {
    cancel(error is CancellationError ? .cancelledByCaller : GRPCStatus(describing: error))
  }
}
