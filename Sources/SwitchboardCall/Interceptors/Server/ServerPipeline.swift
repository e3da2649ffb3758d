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
  @usableFromInline typealias Handler = ServerEnds<Request, Response>.Handler

  @exclusivity(unchecked) @usableFromInline var interceptors: [Interceptor]
  /// The place of the one next to the handler.
  @usableFromInline let last: Int
  /// How many of them take their parts on the loop, straight from their neighbours: all, or none where one names an
  /// executor or the call has ended.
  @exclusivity(unchecked) @usableFromInline var directCount: Int
  /// How many interceptors have been handed a part and have not returned.
  @exclusivity(unchecked) @usableFromInline var depth = 0
  /// What few chains have.
  @exclusivity(unchecked) @usableFromInline var extras: ChainExtras?
  @usableFromInline let ends: ServerEnds<Request, Response>
  /// Takes the parts of a stream of requests; `nil` where there is one request.
  @exclusivity(unchecked) @usableFromInline var streamed: StreamedRequests<Request>?
  /// What handles the one request, which it has; it runs once the requests have ended.
  @exclusivity(unchecked) @usableFromInline var handler: Handler?
  @exclusivity(unchecked) @usableFromInline var isHandling = false
  @exclusivity(unchecked) @usableFromInline var hasSentMetadata = false
  @exclusivity(unchecked) @usableFromInline var isTransportClosed = false
  /// Parts that interceptors have on executors of their own, and whole-call interceptors at work.
  @exclusivity(unchecked) @usableFromInline var underWay = 0

  @inlinable @inline(__always)
  init(
    _ stream: any ServerStream,
    _ method: MethodDescriptor,
    _ interceptors: consuming [Interceptor],
    _ ends: ServerEnds<Request, Response>
  ) {
    directCount = interceptors.count
    last = directCount - 1
    self.interceptors = interceptors
    self.ends = ends
    super.init(stream, method)
    for index in 0..<directCount where interceptor(at: index, { $0.hops.areNamed }) {
      extras = ChainExtras(hops: self.interceptors.map(\.hops))
      directCount = 0
      break
    }
    stream.observe(self)
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
  func receive(_ part: GRPCServerRequestPart<Request>, at index: Int) {
    if eventLoop.inEventLoop { return receiveOnLoop(part, at: index) }
    receiveLater(part, index)
  }

  @usableFromInline
  func receiveLater(_ part: GRPCServerRequestPart<Request>, _ index: Int) {
    eventLoop.execute { self.receiveOnLoop(part, at: index) }
  }

  @inlinable @inline(__always)
  func receiveOnLoop(_ part: GRPCServerRequestPart<Request>, at index: Int) {
    guard index >= 0, index < directCount else { return receiveOn(part, index) }
    interceptor(at: index) { $0.receive(part, context: Context(self, index)) }
  }

  /// Hands on what no interceptor takes on the loop. Apart, so that what is above stays small for each interceptor.
  @inlinable @inline(never)
  func receiveOn(_ part: GRPCServerRequestPart<Request>, _ index: Int) {
    guard isOpen else { return }
    if index <= last {
      if let executor = extras?.hops?[index].requests {
        return hop(executor, index) { $0.receive(part, context: $1) }
      }
      interceptors[index].receive(part, context: Context(self, index))
    } else if let streamed {
      streamed.take(streamed, part)
    } else {
      takeSingle(part)
    }
  }

  @inlinable
  func send(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?, to index: Int) {
    if eventLoop.inEventLoop { return sendOnLoop(part, promise: promise, to: index) }
    sendLater(part, promise, index)
  }

  @usableFromInline
  func sendLater(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    eventLoop.execute { self.sendOnLoop(part, promise: promise, to: index) }
  }

  @inlinable @inline(__always)
  func sendOnLoop(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?, to index: Int) {
    guard index >= 0, index < directCount else { return sendOn(part, promise, index) }
    interceptor(at: index) { $0.send(part, promise: promise, context: Context(self, index)) }
  }

  @inlinable @inline(never)
  func sendOn(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard index >= 0 else { return leave(part, promise) }
    if let executor = extras?.hops?[index].responses {
      return hop(executor, index) { $0.send(part, promise: promise, context: $1) }
    }
    interceptors[index].send(part, promise: promise, context: Context(self, index))
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
    underWay += 1
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
    directCount = 0
    handler = nil
    if let streamed {
      streamed.queue.finish(.callEnded)
      self.streamed = nil
    }
    if depth == 0 { letGo() }
    resumeReader()
    extras?.close()
  }

  @usableFromInline
  func letGo() { interceptors = [] }

  override func tellMessage(_ bytes: RawSpan) { ends.message(self, bytes) }

  override func tellEnd() { ends.end(self) }

  override func tellFailure(_ status: GRPCStatus) { errorCaught(status, at: 0) }

  override func sendMetadataAlone() {
    guard !hasSentMetadata else { return }
    hasSentMetadata = true
    sendOnLoop(.metadata(initialMetadata), promise: nil, to: last)
  }

  override func transportClosed() {
    isTransportClosed = true
    closeIfDone()
  }

  /// Something that was under way is over.
  func workIsDone() {
    underWay -= 1
    closeIfDone()
  }

  /// A chain that keeps the end to itself is let go of when neither side has anything left to say.
  @usableFromInline
  func closeIfDone() {
    if isTransportClosed, isOpen, !isHandling, underWay == 0 { close() }
  }
}
