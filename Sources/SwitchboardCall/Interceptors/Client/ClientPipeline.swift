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

  @exclusivity(unchecked) @usableFromInline var interceptors: [Interceptor]
  /// The place of the one next to the transport.
  @usableFromInline let last: Int
  /// How many of them take their parts on the loop, straight from their neighbours: all, or none where one names an
  /// executor or the call has ended.
  @exclusivity(unchecked) @usableFromInline var directCount: Int
  /// How many interceptors have been handed a part and have not returned.
  @exclusivity(unchecked) @usableFromInline var depth = 0
  /// What few chains have.
  @exclusivity(unchecked) @usableFromInline var extras: ChainExtras?
  @usableFromInline let ends: ClientEnds<Request, Response>
  @exclusivity(unchecked) @usableFromInline var toCaller: ToCaller?
  /// In place of `toCaller`, the caller of one response.
  @exclusivity(unchecked) @usableFromInline var single: SingleResponse<Response>?
  /// The format that the options asked for, in place of the method's own.
  @exclusivity(unchecked) @usableFromInline var chosen: ChosenFormat<Request, Response>?
  @exclusivity(unchecked) @usableFromInline var hasStarted = false

  @inlinable @inline(__always)
  init(
    _ engine: CallEngine,
    _ method: MethodDescriptor,
    _ options: CallOptions?,
    _ interceptors: consuming [Interceptor],
    _ ends: ClientEnds<Request, Response>
  ) {
    directCount = interceptors.count
    last = directCount - 1
    self.interceptors = interceptors
    self.ends = ends
    super.init(engine, method, options ?? CallOptions())
    for index in 0..<directCount where interceptor(at: index, { $0.hops.areNamed }) {
      extras = ChainExtras(hops: self.interceptors.map(\.hops))
      directCount = 0
      break
    }
  }

  // MARK: Parts

  /// Has an interceptor take a part. No reference to it is counted, which for each part would cost more than all else
  /// that a chain does: the array keeps it alive, and is not let go of before all of them have returned.
  @inlinable @inline(__always)
  func interceptor<Result>(at index: Int, _ body: (Interceptor) -> Result) -> Result {
    depth &+= 1
    defer {
      depth &-= 1
      if depth == 0, !isOpen { letGo() }
    }
    return Unmanaged.passUnretained(interceptors[index])._withUnsafeGuaranteedRef(body)
  }

  @inlinable
  func send(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?, to index: Int) {
    if eventLoop.inEventLoop { return sendOnLoop(part, promise: promise, to: index) }
    sendLater(part, promise, index)
  }

  @usableFromInline
  func sendLater(_ part: GRPCClientRequestPart<Request>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    eventLoop.execute { self.sendOnLoop(part, promise: promise, to: index) }
  }

  @inlinable @inline(__always)
  func sendOnLoop(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?, to index: Int) {
    guard index >= 0, index < directCount else { return sendOn(part, promise, index) }
    interceptor(at: index) { $0.send(part, promise: promise, context: Context(self, index)) }
  }

  /// Hands on what no interceptor takes on the loop. Apart, so that what is above stays small for each interceptor.
  @inlinable @inline(never)
  func sendOn(_ part: GRPCClientRequestPart<Request>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard index <= last else { return leave(part, promise) }
    if let executor = extras?.hops?[index].requests {
      return hop(executor, index) { $0.send(part, promise: promise, context: $1) }
    }
    interceptors[index].send(part, promise: promise, context: Context(self, index))
  }

  @inlinable
  func receive(_ part: GRPCClientResponsePart<Response>, at index: Int) {
    if eventLoop.inEventLoop { return receiveOnLoop(part, at: index) }
    receiveLater(part, index)
  }

  @usableFromInline
  func receiveLater(_ part: GRPCClientResponsePart<Response>, _ index: Int) {
    eventLoop.execute { self.receiveOnLoop(part, at: index) }
  }

  @inlinable @inline(__always)
  func receiveOnLoop(_ part: GRPCClientResponsePart<Response>, at index: Int) {
    guard index >= 0, index < directCount else { return receiveOn(part, index) }
    interceptor(at: index) { $0.receive(part, context: Context(self, index)) }
  }

  @inlinable @inline(never)
  func receiveOn(_ part: GRPCClientResponsePart<Response>, _ index: Int) {
    guard isOpen else { return }
    guard index >= 0 else { return deliver(part) }
    if let executor = extras?.hops?[index].responses {
      return hop(executor, index) { $0.receive(part, context: $1) }
    }
    interceptors[index].receive(part, context: Context(self, index))
  }

  @inlinable
  func deliver(_ part: GRPCClientResponsePart<Response>) {
    guard case .end = part else { return deliverBeforeEnd(part) }
    let (toCaller, single) = (toCaller, single)
    close()
    if let single { single.resume(with: part) } else { toCaller?(part) }
  }

  @inlinable @inline(__always)
  func deliverBeforeEnd(_ part: GRPCClientResponsePart<Response>) {
    guard let single else {
      toCaller?(part)
      return
    }
    // Runs no code that could let go of it.
    Unmanaged.passUnretained(single)._withUnsafeGuaranteedRef { _ = $0.take(part) }
  }

  /// Has an interceptor do its part where it wants to; it hands the part on from there.
  @usableFromInline
  func hop(
    _ executor: InterceptorExecutor,
    _ index: Int,
    _ work: @escaping @Sendable (Interceptor, Context) -> Void
  ) {
    // An interceptor that names an executor is used there; what it does before is its `init`.
    nonisolated(unsafe) let interceptor = interceptors[index]
    executor.execute { work(interceptor, Context(self, index)) }
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

  override func tellHeaders(_ headers: HPACKHeaders) { ends.headers(self, headers) }

  override func tellMessage(_ bytes: RawSpan) { ends.message(self, bytes) }

  override func tellEnd(_ status: consuming GRPCStatus, _ trailers: consuming HPACKHeaders) {
    ends.end(self, status, trailers)
  }

  override func tellFailure(_ status: GRPCStatus) { errorCaught(status, at: last) }

  override func giveUp(_ status: GRPCStatus) {
    guard isOpen else { return }
    noteReason(status)
    guard hasStarted else { return }
    cancel(promise: nil, to: 0)
    if isOpen { deliver(.end(status, HPACKHeaders())) }
  }

  override func deadlinePassed() {
    stop(.deadlinePassed)
    if isOpen { deliver(.end(.deadlinePassed, HPACKHeaders())) }
  }

  /// Neighbours let go of each other, and with them of every part that an interceptor kept.
  @inlinable
  func close() {
    isOpen = false
    directCount = 0
    toCaller = nil
    single = nil
    closeTransport()
    if depth == 0 { letGo() }
    extras?.close()
  }

  @usableFromInline
  func letGo() { interceptors = [] }
}
