// The handler's end of the chain, where parts become requests and the handler's answers become parts.
extension ServerChain {
  // MARK: Requests

  @inlinable @inline(__always)
  func deliver(_ part: GRPCServerRequestPart<Request>) {
    if let streamed { streamed.take(streamed, part) } else { takeSingle(part) }
  }

  /// Reports a failure to a running handler, which learns of it from its requests or its cancellation, and answers. If
  /// no handler runs, or it does not wait for requests, this method answers instead.
  @usableFromInline
  func deliver(failure: any Error) {
    let status = stream.status(of: failure)
    if let streamed, streamed.hasHandler { streamed.queue.finish(status) } else { finish(status) }
  }

  /// Passes the parts of a call whose one request is complete to the chain. Called on the loop.
  ///
  /// Never inlined, because both ways to serve a call use it.
  @inlinable @inline(never)
  func receive(_ message: RawSpan, _ requests: some Marshaller<Request>) {
    receiveMetadata {
      receiveMessage { () throws in try requests.decode(message) }
      receive(.end, at: transportEnd)
    }
    if isOpen { observe() }
  }

  /// Passes the metadata to the chain and calls `next` if that leaves it open, both in the call's context.
  @inlinable @inline(__always)
  func receiveMetadata(then next: () -> Void) {
    TaskContext.with(link.with { $0.taskContext }) {
      let hasEntered = interceptors.enter()
      let headers = link.with { $0.headers }
      call.received = headers.identity
      receive(.metadata(headers), at: transportEnd)
      // From now on, another list may be where this one was.
      call.received = ObjectIdentifier(codec)
      if isOpen { next() }
      leave(hasEntered)
    }
  }

  @inlinable @inline(__always)
  func receiveMessage(_ decode: () throws -> Request) {
    do { receiveFirst(.message(try decode())) } catch { failToDecode(error) }
  }

  /// Passes the one request to the handler, once its metadata and its end have arrived. Parts that leave the chain
  /// before the metadata wait for it.
  @inlinable @inline(__always)
  func takeSingle(_ part: GRPCServerRequestPart<Request>) {
    part.borrowed { headers in
      // This happens again if an interceptor repeats the call to the handler.
      guard isOpen else { return }
      if call.hasMetadataOfRequest { request.clear() }
      begin(headers)
      call.hasSentMetadata = false
      call.hasMetadataOfRequest = true
      if call.endIsEarly { startHandler() }
    } message: { message in
      guard isOpen else { return }
      if request.isFull { finish(reported(.tooManyMessages)) } else { request.put(copy message) }
    } end: {
      if call.hasMetadataOfRequest { startHandler() } else { call.endIsEarly = true }
    }
  }

  @inlinable
  func startHandler() {
    (call.hasMetadataOfRequest, call.endIsEarly) = (false, false)
    guard request.isFull else { return finish(reported(.missingRequest)) }
    call.isHandling = true
    if let request = request.take() { codec.ends.startHandler(of: self, with: consume request) }
  }

  /// Starts the handler when the metadata arrives, and passes it the requests as they arrive. Called on the loop.
  @inlinable
  func onRequestStream(_ handle: @escaping (RequestStream<Request>) -> Void) {
    observe()
    streamed = StreamedRequests(makeQueue()) { streamed, part in
      switch part {
      case .metadata(let headers):
        // This happens again if an interceptor repeats the call to the handler.
        if streamed.hasHandler { streamed.replaceQueue(with: self.makeQueue()) }
        let queue = streamed.queue
        self.begin(headers)
        self.call.hasSentMetadata = false
        self.call.requestsHaveEnded = false
        streamed.hasHandler = true
        self.call.isHandling = true
        handle(RequestStream(queue))
        queue.open()
      case .message(let message):
        if self.call.requestsHaveEnded { self.isTooLate(part) } else { streamed.queue.push(message) }
      case .end:
        self.call.requestsHaveEnded = true
        streamed.queue.finish(nil)
      }
    }
    // If an interceptor has answered, nothing would end the wait for the chain's demand.
    receiveMetadata { readRequests { try await self.streamed?.queue.waitUntilWritable(afterBytes: $0) } }
  }

  @inlinable
  func makeQueue() -> PartQueue<Request> {
    PartQueue {
      self.receiveNextMessages($0, to: self.applicationEnd)
    } failed: {
      self.link.with { $0.wasTooLate(.read) }
    }
  }

  // MARK: The handler's answers, from any thread
  // Always inlined: otherwise the compiler calls the unspecialized versions, at three times the cost.

  /// Never inlined, unlike the others: where the format was chosen at run time, calls without interceptors would look up the type
  /// of the parts, too. Static, because that is specialized all the same.
  @inlinable @inline(never)
  static func respond(_ response: consuming Response, by chain: ServerChain) {
    guard chain.isHere else {
      let response = response
      return chain.eventLoop.execute { respond(response, by: chain) }
    }
    if let failure = chain.call.decodingFailure { return chain.finish(failure) }
    let hasEntered = chain.interceptors.enter()
    chain.sendMetadata()
    chain.send(.message(consume response, MessageMetadata()), promise: nil, to: chain.applicationEnd)
    chain.call.isHandling = false
    chain.send(.end(.ok, chain.trailers), promise: nil, to: chain.applicationEnd)
    chain.leave(hasEntered)
    if chain.call.isTransportClosed { chain.closeIfDone() }
  }

  @inlinable
  func finish(_ status: GRPCStatus) {
    guard isHere else { return eventLoop.execute { self.finish(status) } }
    let status = status.isOk ? call.decodingFailure ?? status : status
    if status.isOk || !initialMetadata.isEmpty { sendMetadata() }
    call.isHandling = false
    sendFirst(.end(status, trailers))
    if call.isTransportClosed { closeIfDone() }
  }

  /// Sends the handler's metadata, unless it was already sent. Called on the loop.
  @inlinable @inline(__always)
  func sendMetadata() {
    guard !call.hasSentMetadata else { return }
    call.hasSentMetadata = true
    call.waitsForMessage = true
    sendFirst(.metadata(initialMetadata))
    call.waitsForMessage = false
  }

  @inlinable
  func makeWriter() -> PartWriter<Response> {
    PartWriter(eventLoop) {
      try self.gate(at: self.applicationEnd)
    } send: { response, metadata in
      guard self.isOpen else { return self.link.with { $0.wasTooLate(.sent) } }
      self.sendMetadata()
      self.sendFirst(.message(response, metadata))
    }
  }
}

/// The metadata that a handler has set, from any thread, and the client's metadata for a handler that runs again.
@usableFromInline
struct HandlerMetadata: Sendable {
  var received: HPACKHeaders?
  @usableFromInline var initial = HPACKHeaders()
  @usableFromInline var trailers = HPACKHeaders()
}

// MARK: - The handler's view of the call: its metadata passes the chain before the transport

extension ServerChain: ServerCallState {
  @usableFromInline var method: MethodDescriptor { stream.method }
  @usableFromInline var deadline: CallDeadline? { stream.deadline }
  @usableFromInline var peer: PeerIdentity { stream.peer }
  @usableFromInline var isCancelled: Bool { stream.isCancelled }
  @usableFromInline var requestWasCompressed: Bool { stream.requestWasCompressed }
  @usableFromInline var logger: Logger { stream.logger }
  @usableFromInline var shutdown: ShutdownSignal { stream.shutdown }

  @usableFromInline
  func status(of error: any Error) -> GRPCStatus { stream.status(of: error) }

  @usableFromInline
  func status(ofEncoding error: any Error) -> GRPCStatus { stream.status(ofEncoding: error) }

  @usableFromInline
  var userInfo: UserInfo {
    get { stream.userInfo }
    set { stream.userInfo = newValue }
  }

  @usableFromInline
  var load: (any CallLoad)? {
    get { stream.load }
    set { stream.load = newValue }
  }

  /// The client's metadata, after the interceptors.
  @usableFromInline
  var headers: HPACKHeaders { metadata.value?.received ?? call.changedHeaders ?? stream.headers }

  @usableFromInline
  func setHeaders(_ headers: HPACKHeaders) {
    check(.initialMetadata)
    metadata.change(from: HandlerMetadata()) { $0.initial = headers }
  }

  @usableFromInline
  func sendHeaders() {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.sendHeaders() } }
    guard isOpen, !call.hasSentMetadata else { return }
    call.hasSentMetadata = true
    sendFirst(.metadata(initialMetadata))
  }

  @usableFromInline
  func setTrailers(_ trailers: HPACKHeaders) {
    check(.trailers)
    metadata.change(from: HandlerMetadata()) { $0.trailers = trailers }
  }

  /// Reports what the handler sets too late. What it sends from another thread arrives on the loop in the order of its calls,
  /// and so does this.
  private func check(_ action: LateAction) {
    guard isHere else { return eventLoop.execute { self.check(action) } }
    let isLate = action == .trailers ? call.hasEnded : call.hasSentMetadata
    if isLate { stream.wasTooLate(action) }
  }

  /// Sent before the first message.
  @inlinable @inline(__always)
  var initialMetadata: HPACKHeaders { metadata.value?.initial ?? HPACKHeaders() }

  /// Sent with the status.
  @inlinable @inline(__always)
  var trailers: HPACKHeaders { metadata.value?.trailers ?? HPACKHeaders() }

  /// Stores the metadata of a handler that is about to start: the second one, if an interceptor repeats the requests.
  @inlinable @inline(__always)
  func begin(_ headers: HPACKHeaders) {
    if call.hasBegun { return beginAgain(headers) }
    call.hasBegun = true
    if headers.identity != call.received { change(headers) }
  }

  @usableFromInline
  func change(_ headers: HPACKHeaders) {
    call.changedHeaders = headers
    stream.handlerReceives(headers)
  }

  @usableFromInline
  func beginAgain(_ headers: HPACKHeaders) {
    metadata.change(from: HandlerMetadata()) { $0 = HandlerMetadata(received: headers) }
    stream.handlerReceives(headers)
  }

  @usableFromInline
  func setCompression(_ compression: MessageCompression) { stream.setCompression(compression) }
}
