/// The chain of interceptors of one call on the server, between the transport and the handler.
///
/// ```
///   transport ──receive──> marshaller ──> [0] ──> [1] ──> … ──> handler
///   transport <─────────── marshaller <── [0] <── [1] <── … <─send── handler
/// ```
/// It is open until an `end` reaches the transport, or the transport and the handler are both done with the call;
/// whatever is sent afterwards fails its promise.
@usableFromInline
final class ServerPipeline<Request: Sendable, Response: Sendable>: ServerTransportEnd, @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone; the methods hop to it. Unchecked
  // exclusivity holds because no access lasts while other code runs.

  @usableFromInline typealias Context = ServerInterceptorContext<Request, Response>
  @usableFromInline typealias Interceptor = ServerInterceptor<Request, Response>
  @usableFromInline typealias Handler = ServerCodec<Request, Response>.Handler

  @exclusivity(unchecked) @usableFromInline var chain: InterceptorList<Interceptor>
  /// What few chains have.
  @exclusivity(unchecked) @usableFromInline var sideWork: SideWork?
  @usableFromInline let codec: ServerCodec<Request, Response>
  /// Takes the parts of a stream of requests; `nil` where there is one request.
  @exclusivity(unchecked) @usableFromInline var streamed: StreamedRequests<Request>?
  /// What handles the one request, which it has; it runs once the requests have ended.
  @exclusivity(unchecked) @usableFromInline var handler: Handler?
  /// Whether the metadata of a request is there that is not whole.
  @exclusivity(unchecked) @usableFromInline var hasMetadataOfRequest = false
  /// The end of the one request came out of the chain before its metadata.
  @exclusivity(unchecked) @usableFromInline var endIsEarly = false
  @exclusivity(unchecked) @usableFromInline var isHandling = false
  @exclusivity(unchecked) @usableFromInline var hasSentMetadata = false
  @exclusivity(unchecked) @usableFromInline var isTransportClosed = false

  @inlinable @inline(__always)
  init(
    _ stream: any ServerStream,
    _ interceptors: consuming [Interceptor],
    _ codec: ServerCodec<Request, Response>
  ) {
    chain = InterceptorList(interceptors)
    self.codec = codec
    super.init(stream, streamsResponses: codec.method.type.streamsResponses)
    for index in 0..<(chain.last + 1)
    where chain.uncounted(index)._withUnsafeGuaranteedRef({ $0.executors.areNamed }) {
      sideWork = SideWork(executors: chain.interceptors.map(\.executors))
      chain.takeDetours()
      break
    }
    stream.observe(self)
  }

  // MARK: Parts

  /// Hands the transport's part to the chain. On the loop.
  @inlinable @inline(never)
  func receiveFirst(_ part: GRPCServerRequestPart<Request>) {
    let hasEntered = enter()
    receiveOnLoop(part, at: 0)
    leave(hasEntered)
  }

  /// Hands the handler's part to the chain. On the loop.
  @inlinable @inline(never)
  func sendFirst(_ part: GRPCServerResponsePart<Response>) {
    let hasEntered = enter()
    sendOnLoop(part, promise: nil, to: chain.last)
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
  func receive(_ part: GRPCServerRequestPart<Request>, at index: Int) {
    if eventLoop.isOfThread { return receiveOnLoop(part, at: index) }
    receiveLater(part, index)
  }

  /// On another thread, as far as that tells.
  @inlinable @inline(never)
  func receiveLater(_ part: GRPCServerRequestPart<Request>, _ index: Int) {
    if eventLoop.inEventLoop { return receiveOnLoop(part, at: index) }
    eventLoop.execute { self.receiveOnLoop(part, at: index) }
  }

  @inlinable @inline(__always)
  func receiveOnLoop(_ part: GRPCServerRequestPart<Request>, at index: Int) {
    guard let interceptor = chain.near(index) else { return receiveOn(part, index) }
    interceptor._withUnsafeGuaranteedRef { $0.receive(part, context: Context(self, index)) }
  }

  /// Hands on what no interceptor takes on the loop. Apart, so that what is above stays small for each interceptor.
  @inlinable @inline(never)
  func receiveOn(_ part: GRPCServerRequestPart<Request>, _ index: Int) {
    guard isOpen else { return }
    if index <= chain.last {
      if let executor = sideWork?.executors?[index].requests {
        return hop(executor, index) { $0.receive(part, context: $1) }
      }
      let hasEntered = enter()
      chain.interceptors[index].receive(part, context: Context(self, index))
      leave(hasEntered)
    } else if let streamed {
      streamed.take(streamed, part)
    } else {
      takeSingle(part)
    }
  }

  @inlinable @inline(__always)
  func send(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?, to index: Int) {
    if eventLoop.isOfThread { return sendOnLoop(part, promise: promise, to: index) }
    sendLater(part, promise, index)
  }

  /// On another thread, as far as that tells.
  @inlinable @inline(never)
  func sendLater(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    if eventLoop.inEventLoop { return sendOnLoop(part, promise: promise, to: index) }
    eventLoop.execute { self.sendOnLoop(part, promise: promise, to: index) }
  }

  @inlinable @inline(__always)
  func sendOnLoop(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?, to index: Int) {
    guard let interceptor = chain.near(index) else { return sendOn(part, promise, index) }
    interceptor._withUnsafeGuaranteedRef { $0.send(part, promise: promise, context: Context(self, index)) }
  }

  @inlinable @inline(never)
  func sendOn(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard index >= 0 else { return leave(part, promise) }
    if let executor = sideWork?.executors?[index].responses {
      return hop(executor, index) { $0.send(part, promise: promise, context: $1) }
    }
    let hasEntered = enter()
    chain.interceptors[index].send(part, promise: promise, context: Context(self, index))
    leave(hasEntered)
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
      self.eventLoop.execute { self.workIsDone() }
    }
  }

  // MARK: The end

  /// Neighbours let go of each other, and with them of every part that an interceptor kept. A handler that still
  /// reads is told, and the queue that it reads is let go of: it asks the chain for more.
  @inlinable
  func close() {
    isOpen = false
    chain.close()
    handler = nil
    if let streamed {
      streamed.queue.finish(.callEnded)
      self.streamed = nil
    }
    if !chain.isEntered { letGo() }
    closeCredit()
    sideWork?.close()
  }

  @usableFromInline
  func letGo() { _ = chain.takeAll() }

  override func tellMessage(_ bytes: RawSpan) { codec.message(self, bytes) }

  override func tellEnd() { codec.end(self) }

  override func tellFailure(_ status: GRPCStatus) { errorCaught(status, at: 0) }

  override func sendMetadataAlone() {
    guard !hasSentMetadata else { return }
    hasSentMetadata = true
    sendFirst(.metadata(initialMetadata))
  }

  override func transportClosed() {
    isTransportClosed = true
    closeIfDone()
  }

  /// Something that was under way is over.
  func workIsDone() {
    sideWork?.workIsDone()
    closeIfDone()
  }

  /// A chain that keeps the end to itself is let go of when neither side has anything left to say.
  @usableFromInline
  func closeIfDone() {
    if isTransportClosed, isOpen, !isHandling, sideWork?.isAtRest ?? true { close() }
  }
}
