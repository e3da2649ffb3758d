/// The chain of interceptors of one call on the server, between the transport and the handler.
///
/// ```
///   transport ──receive──> marshaller ──> [0] ──> [1] ──> … ──> handler
///   transport <─────────── marshaller <── [0] <── [1] <── … <─send── handler
/// ```
/// It is open until an `end` reaches the transport; whatever is sent afterwards fails its promise.
@usableFromInline
final class ServerPipeline<Request: Sendable, Response: Sendable>: @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone; the methods hop to it. Unchecked
  // exclusivity holds because no access lasts while other code runs.

  @usableFromInline typealias ToTransport = (GRPCServerResponsePart<Response>, EventLoopPromise<Void>?) ->
    Void
  @usableFromInline typealias ToHandler = (GRPCServerRequestPart<Request>) -> Void

  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let transport: ServerTransportEnd
  @usableFromInline let handler: ServerHandlerEnd
  @exclusivity(unchecked) @usableFromInline var interceptors: [ServerInterceptor<Request, Response>]
  // Closures, so that the code at both ends is compiled for the types of the call: methods of a generic
  // class would not be.
  @exclusivity(unchecked) @usableFromInline var toTransport: ToTransport?
  /// Takes the parts of a stream of requests; `nil` where there is one request, which `onRequest` takes.
  @exclusivity(unchecked) @usableFromInline var toHandler: ToHandler?
  @exclusivity(unchecked) @usableFromInline var onRequest: ((Request) -> Void)?
  @exclusivity(unchecked) @usableFromInline var request: Request?
  /// What the handler's requests do with a failure; `nil` where no handler waits for requests.
  @exclusivity(unchecked) @usableFromInline var failRequests: ((GRPCStatus) -> Void)?
  @exclusivity(unchecked) @usableFromInline var isOpen = true
  @exclusivity(unchecked) @usableFromInline var hasSentMetadata = false

  @inlinable
  init(
    _ stream: any ServerStream,
    _ method: MethodDescriptor,
    _ interceptors: [ServerInterceptor<Request, Response>]
  ) {
    eventLoop = stream.eventLoop
    transport = ServerTransportEnd(stream, method)
    handler = ServerHandlerEnd(stream, transport)
    self.interceptors = interceptors
  }

  // MARK: Parts

  @inlinable
  func receive(_ part: GRPCServerRequestPart<Request>, at index: Int) {
    guard eventLoop.inEventLoop else {
      return eventLoop.execute { self.receive(part, at: index) }
    }
    guard isOpen else { return }
    if index < interceptors.count {
      interceptors[index].receive(part, context: ServerInterceptorContext(self, index))
    } else if let toHandler {
      toHandler(part)
    } else {
      takeSingle(part)
    }
  }

  @inlinable
  func send(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?, to index: Int) {
    guard eventLoop.inEventLoop else {
      return eventLoop.execute { self.send(part, promise: promise, to: index) }
    }
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    if index >= 0 {
      interceptors[index].send(part, promise: promise, context: ServerInterceptorContext(self, index))
    } else {
      leave(part, promise)
    }
  }

  @usableFromInline
  func errorCaught(_ error: any Error, at index: Int) {
    guard eventLoop.inEventLoop else {
      return eventLoop.execute { self.errorCaught(error, at: index) }
    }
    guard isOpen else { return }
    if index < interceptors.count {
      interceptors[index].errorCaught(error, context: ServerInterceptorContext(self, index))
    } else {
      failHandler(GRPCStatus(describing: error))
    }
  }

  /// Hands the one request to the handler, once its stream has ended.
  @inlinable
  func takeSingle(_ part: GRPCServerRequestPart<Request>) {
    switch part {
    case .metadata(let headers):
      handler.headers = headers
    case .message(let message):
      if request == nil { request = message } else { finish(.tooManyMessages) }
    case .end:
      if let request { onRequest?(request) } else { finish(.missingRequest) }
    }
  }

  @inlinable
  func leave(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?) {
    let toTransport = toTransport
    if case .end = part { close() }
    toTransport?(part, promise)
  }

  /// A handler that runs learns of the failure from its requests or its cancellation, and answers; where none
  /// runs, or it has no requests to wait for, the answer is given for it.
  @usableFromInline
  func failHandler(_ status: GRPCStatus) {
    if let failRequests { failRequests(status) } else { finish(status) }
  }

  /// Neighbours let go of each other, and with them of every part that an interceptor kept.
  @inlinable
  func close() {
    isOpen = false
    toTransport = nil
    toHandler = nil
    onRequest = nil
    failRequests = nil
    transport.onMessage = nil
    transport.onAnswer = nil
    interceptors = []
  }
}

// MARK: - What the handler answers, from any thread

// Always inlined: left to itself the compiler calls their unspecialised form, at three times the cost.
extension ServerPipeline {
  @inlinable @inline(__always)
  func respond(_ response: Response) {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.respondOnLoop(response) } }
    respondOnLoop(response)
  }

  @inlinable @inline(__always)
  func respondOnLoop(_ response: Response) {
    sendMetadata()
    send(.message(response, MessageMetadata()), promise: nil, to: interceptors.count - 1)
    send(.end(.ok, handler.trailers), promise: nil, to: interceptors.count - 1)
  }

  @inlinable
  func finish(_ status: GRPCStatus) {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.finish(status) } }
    if status.isOk || !handler.initialMetadata.isEmpty { sendMetadata() }
    send(.end(status, handler.trailers), promise: nil, to: interceptors.count - 1)
  }

  /// Sends the handler's metadata before what follows it, unless that was done. On the loop.
  @inlinable @inline(__always)
  func sendMetadata() {
    guard !hasSentMetadata else { return }
    hasSentMetadata = true
    transport.waitsForMessage = true
    send(.metadata(handler.initialMetadata), promise: nil, to: interceptors.count - 1)
    transport.waitsForMessage = false
  }

  /// Sends the handler's metadata with nothing after it for now. On the loop.
  @usableFromInline
  func sendMetadataAlone() {
    guard !hasSentMetadata else { return }
    hasSentMetadata = true
    send(.metadata(handler.initialMetadata), promise: nil, to: interceptors.count - 1)
  }
}
