extension ServerPipeline {
  /// A chain with its marshallers at one end; the handler's end is for the handler to set.
  @inlinable
  static func make<Requests: Marshaller, Responses: Marshaller>(
    _ stream: any ServerStream,
    _ method: MethodDescriptor,
    _ requests: Requests,
    _ responses: Responses,
    _ interceptors: [ServerInterceptor<Request, Response>]
  ) -> ServerPipeline where Requests.Message == Request, Responses.Message == Response {
    let pipeline = ServerPipeline(stream, method, interceptors) { response throws in
      try responses.encode(response)
    }
    pipeline.receiveFromTransport(requests)
    return pipeline
  }

  /// Hands what has passed the chain to the transport.
  @inlinable
  func leave(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?) {
    switch part {
    case .metadata(let headers):
      send(metadata: headers, promise)
    case .message(let message, let metadata):
      do {
        send(try encode(message), metadata, promise)
      } catch {
        failToEncode(error, promise)
      }
    case .end(let status, let trailers):
      close()
      send(end: status, trailers, promise)
    }
  }

  /// The cycle of the pipeline and these closures is broken by `close`, when the call ends.
  @inlinable
  func receiveFromTransport<Requests: Marshaller>(_ requests: Requests) where Requests.Message == Request {
    onMessage = { bytes in
      do {
        self.receiveOnLoop(.message(try requests.decode(bytes)), at: 0)
      } catch {
        self.fail(.marshalling(error, "decoded"))
      }
    }
    onAnswer = { answer in
      switch answer {
      case .end: self.receiveOnLoop(.end, at: 0)
      case .failure(let status): self.errorCaught(status, at: 0)
      case .sendMetadata: self.sendMetadataAlone()
      }
    }
    stream.observe(self)
  }

  /// Brings the parts of a call whose one request is whole. On the loop.
  @inlinable
  func receive(message: RawSpan) {
    receiveOnLoop(.metadata(stream.headers), at: 0)
    onMessage?(message)
    receiveOnLoop(.end, at: 0)
  }

  /// Starts the handler with the metadata, and brings it the requests as they come. On the loop.
  @inlinable
  func onRequestStream(_ handle: @escaping (RequestStream<Request>) -> Void) {
    requests = makeQueue()
    toHandler = { part in
      switch part {
      case .metadata(let headers):
        // A second time, where an interceptor sends the call to the handler again.
        if self.failRequests != nil { self.requests = self.makeQueue() }
        let requests = self.requests
        self.begin(headers)
        self.hasSentMetadata = false
        self.failRequests = { requests?.finish($0) }
        self.isHandling = true
        if let requests { handle(RequestStream(requests)) }
        requests?.open()
      case .message(let message):
        self.requests?.push(message)
      case .end:
        self.requests?.finish(nil)
      }
    }
    receiveOnLoop(.metadata(stream.headers), at: 0)
    readRequests { await self.requests?.waitUntilWritable(afterBytes: $0) }
  }

  @inlinable
  func makeQueue() -> PartQueue<Request> {
    PartQueue { self.receiveNextMessages($0, to: self.interceptors.count - 1) }
  }

  @inlinable
  func makeWriter() -> PartWriter<Response> {
    PartWriter(eventLoop) {
      try self.nextGate(before: self.interceptors.count)
    } send: { response, metadata in
      self.sendMetadata()
      self.sendOnLoop(.message(response, metadata), promise: nil, to: self.interceptors.count - 1)
    }
  }
}
