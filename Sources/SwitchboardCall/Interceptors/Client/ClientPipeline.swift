/// The chain of interceptors of one call on the client, between the caller and the transport.
///
/// ```
///   caller ──send──> [0] ──> [1] ──> … ──> marshaller ──> transport
///   caller <─────── [0] <── [1] <── … <── marshaller <─receive── transport
/// ```
/// It is open until an `end` reaches the caller; whatever is sent afterwards fails its promise.
@usableFromInline
final class ClientPipeline<Request: Sendable, Response: Sendable>: ClientTransportEnd, @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone; the methods hop to it. Unchecked
  // exclusivity holds because no access lasts while other code runs.

  @usableFromInline typealias Context = ClientInterceptorContext<Request, Response>
  @usableFromInline typealias Interceptor = ClientInterceptor<Request, Response>
  @usableFromInline typealias ToCaller = (GRPCClientResponsePart<Response>) -> Void

  @exclusivity(unchecked) @usableFromInline var chain: InterceptorList<Interceptor>
  /// What few chains have.
  @exclusivity(unchecked) @usableFromInline var sideWork: SideWork?
  @usableFromInline let codec: ClientCodec<Request, Response>
  @exclusivity(unchecked) @usableFromInline var toCaller: ToCaller?
  /// In place of `toCaller`, the caller of one response.
  @exclusivity(unchecked) @usableFromInline var caller: UnsafeContinuation<Response, any Error>?
  /// How many responses there were for it, and the first.
  @exclusivity(unchecked) @usableFromInline var responseCount = 0
  @exclusivity(unchecked) @usableFromInline var response = InlineSlot<Response>()
  /// The format that the options asked for, in place of the method's own.
  @exclusivity(unchecked) @usableFromInline var chosen: ChosenFormat<Request, Response>?
  @exclusivity(unchecked) @usableFromInline var hasStarted = false

  @inlinable @inline(__always)
  init(
    _ engine: CallEngine,
    _ method: MethodDescriptor,
    _ options: CallOptions?,
    _ interceptors: consuming [Interceptor],
    _ codec: ClientCodec<Request, Response>
  ) {
    chain = InterceptorList(interceptors)
    self.codec = codec
    super.init(engine, method, options ?? CallOptions())
    for index in 0..<(chain.last + 1)
    where chain.uncounted(index)._withUnsafeGuaranteedRef({ $0.executors.areNamed }) {
      sideWork = SideWork(executors: chain.interceptors.map(\.executors))
      chain.takeDetours()
      break
    }
  }

  deinit { response.clear() }

  // MARK: Parts

  /// Hands the caller's part to the chain. On the loop.
  @inlinable @inline(__always)
  func sendFirst(_ part: GRPCClientRequestPart<Request>) {
    let hasEntered = enter()
    sendOnLoop(part, promise: nil, to: 0)
    leave(hasEntered)
  }

  /// Hands the transport's part to the chain. On the loop.
  @inlinable @inline(__always)
  func receiveFirst(_ part: GRPCClientResponsePart<Response>) {
    let hasEntered = enter()
    receiveOnLoop(part, at: chain.last)
    leave(hasEntered)
  }

  /// Lets parts into the chain, which is let go of no sooner than it is left; says whether that is to be done.
  @inlinable @inline(__always)
  func enter() -> Bool { chain.enter() }

  @inlinable @inline(__always)
  func leave(_ hasEntered: Bool) {
    guard hasEntered else { return }
    chain.leave()
    if !isOpen { letGo() }
  }

  @inlinable @inline(__always)
  func send(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?, to index: Int) {
    if eventLoop.isOfThread { return sendOnLoop(part, promise: promise, to: index) }
    sendLater(part, promise, index)
  }

  /// On another thread, as far as that tells.
  @inlinable @inline(never)
  func sendLater(_ part: GRPCClientRequestPart<Request>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    if eventLoop.inEventLoop { return sendOnLoop(part, promise: promise, to: index) }
    eventLoop.execute { self.sendOnLoop(part, promise: promise, to: index) }
  }

  @inlinable @inline(__always)
  func sendOnLoop(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?, to index: Int) {
    guard let interceptor = chain.near(index) else { return sendOn(part, promise, index) }
    interceptor._withUnsafeGuaranteedRef { $0.send(part, promise: promise, context: Context(self, index)) }
  }

  /// Hands on what no interceptor takes on the loop. Apart, so that what is above stays small for each interceptor.
  @inlinable @inline(never)
  func sendOn(_ part: GRPCClientRequestPart<Request>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard index <= chain.last else { return leave(part, promise) }
    if let executor = sideWork?.executors?[index].requests {
      return hop(executor, index) { $0.send(part, promise: promise, context: $1) }
    }
    let hasEntered = enter()
    chain.interceptors[index].send(part, promise: promise, context: Context(self, index))
    leave(hasEntered)
  }

  @inlinable @inline(__always)
  func receive(_ part: GRPCClientResponsePart<Response>, at index: Int) {
    if eventLoop.isOfThread { return receiveOnLoop(part, at: index) }
    receiveLater(part, index)
  }

  /// On another thread, as far as that tells.
  @inlinable @inline(never)
  func receiveLater(_ part: GRPCClientResponsePart<Response>, _ index: Int) {
    if eventLoop.inEventLoop { return receiveOnLoop(part, at: index) }
    eventLoop.execute { self.receiveOnLoop(part, at: index) }
  }

  @inlinable @inline(__always)
  func receiveOnLoop(_ part: GRPCClientResponsePart<Response>, at index: Int) {
    guard let interceptor = chain.near(index) else { return receiveOn(part, index) }
    interceptor._withUnsafeGuaranteedRef { $0.receive(part, context: Context(self, index)) }
  }

  @inlinable @inline(never)
  func receiveOn(_ part: GRPCClientResponsePart<Response>, _ index: Int) {
    guard isOpen else { return }
    guard index >= 0 else { return deliver(part) }
    if let executor = sideWork?.executors?[index].responses {
      return hop(executor, index) { $0.receive(part, context: $1) }
    }
    let hasEntered = enter()
    chain.interceptors[index].receive(part, context: Context(self, index))
    leave(hasEntered)
  }

  /// Hands what has passed the chain to the caller.
  @inlinable
  func deliver(_ part: GRPCClientResponsePart<Response>) {
    switch part {
    case .metadata:
      toCaller?(part)
    case .message(let message):
      guard caller != nil else {
        toCaller?(part)
        return
      }
      responseCount += 1
      response.put(message)
    case .end(let status, _):
      let (caller, toCaller) = (caller, toCaller.take())
      self.caller = nil
      close()
      if let caller { resume(caller, status) } else { toCaller?(part) }
    }
  }

  @inlinable @inline(__always)
  func resume(_ caller: UnsafeContinuation<Response, any Error>, _ status: GRPCStatus) {
    if !status.isOk {
      caller.resume(throwing: status)
    } else if responseCount == 1, let response = response.take() {
      caller.resume(returning: response)
    } else {
      caller.resume(throwing: responseCount == 0 ? GRPCStatus.missingResponse : .tooManyMessages)
    }
  }

  /// Has an interceptor do its part where it wants to; it hands the part on from there.
  @usableFromInline
  func hop(
    _ executor: InterceptorExecutor,
    _ index: Int,
    _ work: @escaping @Sendable (Interceptor, Context) -> Void
  ) {
    // An interceptor that names an executor is used there; what it does before is its `init`.
    nonisolated(unsafe) let interceptor = chain.interceptors[index]
    sideWork?.workBegins()
    executor.execute {
      work(interceptor, Context(self, index))
      self.eventLoop.execute { self.sideWork?.workIsDone() }
    }
  }

  // MARK: Start and end

  /// Begins the call. `false` when it was cancelled before: then it has ended.
  @inlinable
  func begin() -> Bool {
    hasStarted = true
    guard let reason else { return true }
    deliver(.end(reason, HPACKHeaders()))
    return false
  }

  override func tellHeaders(_ headers: HPACKHeaders) { codec.headers(self, headers) }

  override func tellMessage(_ bytes: RawSpan) { codec.message(self, bytes) }

  override func tellEnd(_ status: GRPCStatus, _ trailers: HPACKHeaders) {
    codec.end(self, status, trailers)
  }

  override func tellFailure(_ status: GRPCStatus) { errorCaught(status, at: chain.last) }

  override func giveUp(_ status: GRPCStatus) {
    guard isOpen else { return }
    noteReason(status)
    guard hasStarted else { return }
    cancel(promise: nil, to: 0)
    endAtRest(status)
  }

  override func deadlinePassed() {
    atRest {
      guard self.isOpen else { return }
      self.stop(.deadlinePassed)
      self.endAtRest(.deadlinePassed)
    }
  }

  /// Ends a call that the chain has kept open, once nothing of it is under way on an executor.
  private func endAtRest(_ status: GRPCStatus) {
    atRest {
      if self.isOpen { self.deliver(.end(status, HPACKHeaders())) }
    }
  }

  private func atRest(_ work: @escaping () -> Void) {
    if let sideWork { sideWork.endAtRest(work) } else { work() }
  }

  /// Neighbours let go of each other, and with them of every part that an interceptor kept.
  @inlinable
  func close() {
    isOpen = false
    chain.close()
    closeTransport()
    if !chain.isEntered { letGo() }
    sideWork?.close()
  }

  @usableFromInline
  func letGo() { _ = chain.takeAll() }
}
