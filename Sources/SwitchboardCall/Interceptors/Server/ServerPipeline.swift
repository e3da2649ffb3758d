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
  @usableFromInline typealias Encode = (Response) throws -> MessageBuffer
  @usableFromInline typealias ToHandler = (GRPCServerRequestPart<Request>) -> Void

  @exclusivity(unchecked) @usableFromInline var interceptors: [Interceptor]
  /// Where interceptors want their parts; `nil` where none names an executor.
  @exclusivity(unchecked) @usableFromInline var hops: [InterceptorHops]?
  // Closures, so that the code at both ends is compiled for the types of the call: methods of a generic
  // class would not be.
  @usableFromInline let encode: Encode
  /// Takes the parts of a stream of requests; `nil` where there is one request, which `onRequest` takes.
  @exclusivity(unchecked) @usableFromInline var toHandler: ToHandler?
  @exclusivity(unchecked) @usableFromInline var onRequest: ((Request) -> Void)?
  @exclusivity(unchecked) @usableFromInline var request: Request?
  /// Requests on their way to a handler that takes a stream of them.
  @exclusivity(unchecked) @usableFromInline var requests: PartQueue<Request>?
  /// What the handler's requests do with a failure; `nil` where no handler waits for requests.
  @exclusivity(unchecked) @usableFromInline var failRequests: ((GRPCStatus) -> Void)?
  @exclusivity(unchecked) @usableFromInline var isOpen = true
  @exclusivity(unchecked) @usableFromInline var isHandling = false
  @exclusivity(unchecked) @usableFromInline var hasSentMetadata = false
  @exclusivity(unchecked) @usableFromInline var isTransportClosed = false
  /// Parts that interceptors have on executors of their own, and whole-call interceptors at work.
  @exclusivity(unchecked) @usableFromInline var underWay = 0
  /// Interceptors that take responses in themselves, and make the handler wait where they are behind.
  @exclusivity(unchecked) var gates = InterceptorGates()
  @exclusivity(unchecked) @usableFromInline var onClose: [() -> Void] = []

  @inlinable
  init(
    _ stream: any ServerStream,
    _ method: MethodDescriptor,
    _ interceptors: [Interceptor],
    encode: @escaping Encode
  ) {
    self.interceptors = interceptors
    self.encode = encode
    for interceptor in interceptors where interceptor.hops.areNamed {
      hops = interceptors.map(\.hops)
      break
    }
    super.init(stream, method)
  }

  // MARK: Parts

  @inlinable
  func receive(_ part: GRPCServerRequestPart<Request>, at index: Int) {
    if eventLoop.inEventLoop { return receiveOnLoop(part, at: index) }
    receiveLater(part, index)
  }

  @usableFromInline
  func receiveLater(_ part: GRPCServerRequestPart<Request>, _ index: Int) {
    eventLoop.execute { self.receiveOnLoop(part, at: index) }
  }

  @inlinable
  func receiveOnLoop(_ part: GRPCServerRequestPart<Request>, at index: Int) {
    // Where the call has ended, there are no interceptors.
    guard index < interceptors.count, hops == nil else { return receiveOn(part, index) }
    interceptors[index].receive(part, context: Context(self, index))
  }

  /// Hands on what no interceptor takes on the loop. Apart, so that what is above stays small for each interceptor.
  @inlinable @inline(never)
  func receiveOn(_ part: GRPCServerRequestPart<Request>, _ index: Int) {
    guard isOpen else { return }
    if index < interceptors.count {
      if let executor = hops?[index].requests {
        return hop(executor, index) { $0.receive(part, context: $1) }
      }
      interceptors[index].receive(part, context: Context(self, index))
    } else if let toHandler {
      toHandler(part)
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

  @inlinable
  func sendOnLoop(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?, to index: Int) {
    guard interceptors.indices.contains(index), hops == nil else { return sendOn(part, promise, index) }
    interceptors[index].send(part, promise: promise, context: Context(self, index))
  }

  @inlinable @inline(never)
  func sendOn(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard index >= 0 else { return leave(part, promise) }
    if let executor = hops?[index].responses {
      return hop(executor, index) { $0.send(part, promise: promise, context: $1) }
    }
    interceptors[index].send(part, promise: promise, context: Context(self, index))
  }

  /// Hands the one request to the handler, once its stream has ended.
  @inlinable
  func takeSingle(_ part: GRPCServerRequestPart<Request>) {
    switch part {
    case .metadata(let headers):
      begin(headers)
      hasSentMetadata = false
      request = nil
    case .message(let message):
      if request == nil { request = message } else { finish(.tooManyMessages) }
    case .end:
      guard let request else { return finish(.missingRequest) }
      self.request = nil
      isHandling = true
      onRequest?(request)
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
    toHandler = nil
    onRequest = nil
    failRequests = nil
    requests?.finish(.callEnded)
    requests = nil
    onMessage = nil
    onAnswer = nil
    interceptors = []
    resumeReader()
    if !onClose.isEmpty { tellClosed() }
  }

  @usableFromInline
  func tellClosed() {
    let told = onClose
    onClose = []
    gates = InterceptorGates()
    for tell in told { tell() }
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
