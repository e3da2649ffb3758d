// unsafe: a chain is touched on its call's loop alone, and keeps its interceptors while one runs

/// The chain of interceptors of one call on the server, between the transport and the handler.
///
/// It is open until an `end` reaches the transport, or the transport and the handler are both done with the call; later
/// sends fail their promises. The chain, its transport's end and the handler's view of the call are one object, to save
/// allocations; for the same reason, a chain serves one call after the other while they come in a batch.
@usableFromInline
final class ServerChain<Request: Sendable, Response: Sendable>:
  ChainState<ServerInterceptor<Request, Response>>, InterceptorChain, @unchecked Sendable
{
  // Sendable holds because everything except `link` and `metadata` is used only on the event loop; the methods hop to
  // it. `link` changes only while nothing else refers to the chain, and `changedHeaders` not once a handler can see it.
  // Unchecked exclusivity holds because no access lasts while other code runs.

  @usableFromInline typealias Interceptor = ServerInterceptor<Request, Response>

  @usableFromInline let codec: ServerCodec<Request, Response>
  /// The call at the transport. Any thread may use it.
  @exclusivity(unchecked) @usableFromInline var link: ServerLink
  @exclusivity(unchecked) @usableFromInline var call: ChainCall
  @usableFromInline let metadata = RareValue<HandlerMetadata>()

  /// Takes the parts of a stream of requests; `nil` if there is one request.
  @exclusivity(unchecked) @usableFromInline var streamed: StreamedRequests<Request>?
  /// The one request, until its handler starts; empty if they stream.
  @exclusivity(unchecked) @usableFromInline var request = InlineSlot<Request>()

  @inlinable @inline(__always) var stream: any ServerStream { link.stream }
  @inlinable @inline(__always) var streamsResponses: Bool { codec.method.type.streamsResponses }

  @inlinable @inline(__always)
  init(
    _ stream: consuming any ServerStream,
    _ interceptors: consuming [Interceptor],
    _ codec: ServerCodec<Request, Response>
  ) {
    link = ServerLink(stream)
    call = ChainCall()
    self.codec = codec
    // Calls begin on the thread of their loop.
    super.init(interceptors, at: LoopOfThread.address)
    // The count must include the first message.
    if codec.method.type.streamsResponses { observe(sent: true) }
  }

  /// Returns the chain that served the call before, if that was of the same method and nothing refers to it anymore, or
  /// else a new one. The calls are on the same loop.
  @inlinable @inline(never)
  static func next(
    after last: inout LastChain,
    _ stream: consuming any ServerStream,
    _ interceptors: consuming [Interceptor],
    _ codec: ServerCodec<Request, Response>
  ) -> ServerChain {
    if let chain = last.takeUnique(of: codec) {
      if chain.isVacant, chain.metadata.isEmpty, !chain.request.isFull, !chain.streamsResponses {
        chain.link = ServerLink(stream)
        chain.call = ChainCall()
        chain.reopen(interceptors)
        return chain
      }
    }
    return ServerChain(stream, interceptors, codec)
  }

  deinit { request.clear() }

  /// Observes the end of the call and, if `sent` is set, what is sent. Most unary calls end before that is needed.
  @usableFromInline
  func observe(sent: Bool = false) { stream.observe(self, sent: sent) }

  @inlinable
  var eventLoop: any EventLoop { stream.eventLoop }

  @inlinable @inline(__always) static var towardsTransport: Int { -1 }

  // MARK: The end

  /// Closes the chain, so that no more parts pass. A handler that has not answered is notified and cancelled. Its
  /// queue, which refers to the chain, is released.
  @inlinable
  func close() {
    closeChain()
    request.clear()
    streamed?.callEnded()
    streamed = nil
    if call.isHandling {
      call.isHandling = false
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
    if call.isTransportClosed, isOpen, !call.isHandling, sideWork?.isIdle ?? true { close() }
  }
}

/// The call at the transport. Not copyable, because a chain counts a reference wherever it uses a stream that can change.
@frozen
@usableFromInline
struct ServerLink: ~Copyable {
  @usableFromInline let stream: any ServerStream

  @inlinable @inline(__always) init(_ stream: consuming any ServerStream) { self.stream = stream }
  @inlinable @inline(__always) func with<R>(_ use: (any ServerStream) -> R) -> R { use(stream) }
}

/// What a chain keeps of its call, except for messages: one value, which is new when the chain serves another call. It does
/// not depend on their types, because the runtime would look up its type for each chain that is released.
@frozen
@usableFromInline
struct ChainCall: ~Copyable {
  /// Whether the metadata of an incomplete request has arrived.
  @usableFromInline var hasMetadataOfRequest = false
  /// Whether the end of the one request left the chain before the metadata.
  @usableFromInline var endIsEarly = false
  @usableFromInline var isHandling = false
  @usableFromInline var hasSentMetadata = false
  /// The identity of the client's metadata while they enter the chain.
  @usableFromInline var received: ObjectIdentifier?
  /// Whether a handler has had metadata.
  @usableFromInline var hasBegun = false
  /// The metadata of the first handler, if interceptors have changed it.
  @usableFromInline var changedHeaders: HPACKHeaders?
  @usableFromInline var message: MessageBuffer?
  @usableFromInline var hasFailed = false
  @usableFromInline var decodingFailure: GRPCStatus?
  @usableFromInline var hasEnded = false
  @usableFromInline var isTransportClosed = false
  /// Whether the end of the requests has left the chain for the handler, and the end of the call for the client.
  @usableFromInline var requestsHaveEnded = false
  @usableFromInline var endHasLeft = false
  /// Whether the next part follows at once, so that the metadata is sent together with it.
  @usableFromInline var waitsForMessage = false

  @inlinable @inline(__always) init() {}
}
