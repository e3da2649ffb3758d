extension ServerPipeline {
  /// Hands what has passed the chain to the transport.
  @inlinable
  func leave(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?) {
    switch part {
    case .metadata(let headers):
      send(metadata: headers, promise)
    case .message(let message, let metadata):
      do {
        send(try codec.encode(message), metadata, promise)
      } catch {
        failToEncode(error, promise)
      }
    case .end(let status, let trailers):
      close()
      send(end: status, trailers, promise)
    }
  }

  /// Brings the parts of a call whose one request is whole. On the loop.
  @inlinable
  func receive(message: RawSpan) {
    receiveFirst(.metadata(stream.headers))
    if isOpen { codec.message(self, message) }
    receiveFirst(.end)
  }

  /// Hands the one request to the handler, once there is the metadata and its stream has ended. What comes out of the chain
  /// before the metadata waits for it.
  @inlinable
  func takeSingle(_ part: GRPCServerRequestPart<Request>) {
    switch part {
    case .metadata(let headers):
      // A second time, where an interceptor sends the call to the handler again.
      if hasMetadataOfRequest { handler = nil }
      begin(headers)
      hasSentMetadata = false
      hasMetadataOfRequest = true
      if endIsEarly { startHandler() }
    case .message(let request):
      if handler == nil { handler = codec.makeHandler?(self, request) } else { finish(.tooManyMessages) }
    case .end:
      if hasMetadataOfRequest { startHandler() } else { endIsEarly = true }
    }
  }

  @usableFromInline
  func startHandler() {
    hasMetadataOfRequest = false
    endIsEarly = false
    guard let handler else { return finish(.missingRequest) }
    self.handler = nil
    isHandling = true
    stream.run(handler)
  }

  /// Starts the handler with the metadata, and brings it the requests as they come. On the loop.
  @inlinable
  func onRequestStream(_ handle: @escaping (RequestStream<Request>) -> Void) {
    streamed = StreamedRequests(makeQueue()) { streamed, part in
      switch part {
      case .metadata(let headers):
        // A second time, where an interceptor sends the call to the handler again.
        if streamed.hasHandler { streamed.queue = self.makeQueue() }
        let queue = streamed.queue
        self.begin(headers)
        self.hasSentMetadata = false
        streamed.hasHandler = true
        self.isHandling = true
        handle(RequestStream(queue))
        queue.open()
      case .message(let message):
        streamed.queue.push(message)
      case .end:
        streamed.queue.finish(nil)
      }
    }
    receiveFirst(.metadata(stream.headers))
    readRequests { try await self.streamed?.queue.waitUntilWritable(afterBytes: $0) }
  }

  @inlinable
  func makeQueue() -> PartQueue<Request> {
    PartQueue { self.receiveNextMessages($0, to: self.chain.last) }
  }

  @inlinable
  func makeWriter() -> PartWriter<Response> {
    PartWriter(eventLoop) {
      try self.nextGate(before: self.chain.last + 1)
    } send: { response, metadata in
      self.sendMetadata()
      self.sendFirst(.message(response, metadata))
    }
  }
}
