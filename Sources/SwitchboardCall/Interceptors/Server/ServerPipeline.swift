/// The chain of interceptors of one call on the server, between the transport and the handler.
///
/// It is open until an `end` reaches the transport, or the transport and the handler are both done with the call; later
/// sends fail their promises. The chain, its transport's end and the handler's view of the call are one object, to save
/// allocations.
@usableFromInline
final class ServerPipeline<Request: Sendable, Response: Sendable>:
  ChainedInterceptors<ServerInterceptor<Request, Response>>, InterceptorChain, @unchecked Sendable
{
  // Sendable holds because everything except `metadata` is used only on the event loop; the methods hop to it.
  // `firstHeaders` does not change once a handler can see it. Unchecked exclusivity holds because no access lasts while
  // other code runs.

  @usableFromInline typealias Interceptor = ServerInterceptor<Request, Response>

  @usableFromInline let stream: any ServerStream
  @usableFromInline let codec: ServerCodec<Request, Response>
  @inlinable @inline(__always) var streamsResponses: Bool { codec.method.type.streamsResponses }

  // The handler.
  /// Takes the parts of a stream of requests; `nil` if there is one request.
  @exclusivity(unchecked) @usableFromInline var streamed: StreamedRequests<Request>?
  /// The one request, until its handler starts; empty if they stream.
  @exclusivity(unchecked) @usableFromInline var request = InlineSlot<Request>()
  /// Whether the metadata of an incomplete request has arrived.
  @exclusivity(unchecked) @usableFromInline var hasMetadataOfRequest = false
  /// Whether the end of the one request left the chain before the metadata.
  @exclusivity(unchecked) @usableFromInline var endIsEarly = false
  @exclusivity(unchecked) @usableFromInline var isHandling = false
  /// What the task that can run the handler has bound; `nil` if the handler starts a task of its own.
  @exclusivity(unchecked) @usableFromInline var position: TaskContext.Position?
  /// Whether the handler is left to that task.
  @exclusivity(unchecked) @usableFromInline var isLeft = false
  @exclusivity(unchecked) @usableFromInline var hasSentMetadata = false
  @exclusivity(unchecked) @usableFromInline var firstHeaders: HPACKHeaders?
  @usableFromInline let metadata = RareValue<HandlerMetadata>()

  // The transport.
  @exclusivity(unchecked) var message: MessageBuffer?
  @exclusivity(unchecked) var hasFailed = false
  @exclusivity(unchecked) @usableFromInline var decodingFailure: GRPCStatus?
  @exclusivity(unchecked) var hasEnded = false
  @exclusivity(unchecked) @usableFromInline var isTransportClosed = false
  /// Whether the next part follows at once, so that the metadata is sent together with it.
  @exclusivity(unchecked) @usableFromInline var waitsForMessage = false

  @inlinable @inline(__always)
  init(
    _ stream: any ServerStream,
    _ interceptors: consuming [Interceptor],
    _ codec: ServerCodec<Request, Response>
  ) {
    self.stream = stream
    self.codec = codec
    // Calls begin on the thread of their loop.
    super.init(interceptors, at: LoopOfThread.address)
    // The count must include the first message.
    if codec.method.type.streamsResponses { observe(sent: true) }
  }

  deinit { request.clear() }

  /// Observes the end of the call and, if `sent` is set, what is sent. Most unary calls end before that is needed.
  @usableFromInline
  func observe(sent: Bool = false) { stream.observe(self, sent: sent) }

  @inlinable
  var eventLoop: any EventLoop { stream.eventLoop }

  @inlinable @inline(__always)
  static var towardsTransport: Int { -1 }

  // MARK: The end

  /// Closes the chain, so that no more parts pass. A handler that has not answered is notified and cancelled. Its
  /// queue, which refers to the chain, is released.
  @inlinable
  func close() {
    closeChain()
    isLeft = false
    request.clear()
    streamed?.callEnded()
    streamed = nil
    if isHandling {
      isHandling = false
      stream.cancelHandler()
    }
  }

  @usableFromInline
  package func sideWorkIsDone() {
    sideWork?.workIsDone()
    closeIfDone()
  }

  /// Closes a chain that withholds the end, once neither side has anything left to send.
  @usableFromInline
  func closeIfDone() {
    if isTransportClosed, isOpen, !isHandling, sideWork?.isIdle ?? true { close() }
  }
}
