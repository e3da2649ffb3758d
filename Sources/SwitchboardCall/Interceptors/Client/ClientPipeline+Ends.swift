extension Channel {
  /// The chain of a call, with its marshallers at one end; the caller's end is for the caller to set.
  @inlinable
  func makePipeline<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions?,
    _ chain: ClientInterceptorChain<Requests.Message, Responses.Message>
  ) -> ClientPipeline<Requests.Message, Responses.Message> {
    let requests = method.requests
    let pipeline = ClientPipeline<Requests.Message, Responses.Message>(
      self,
      method.descriptor,
      options,
      chain.interceptors
    ) { request throws in try requests.encode(request) }
    pipeline.contentSubtype = ContentSubtype.of(requests, method.responses)
    pipeline.receiveFromTransport(requests, method.responses)
    return pipeline
  }
}

extension ClientPipeline {
  /// Hands what has passed the chain to the transport.
  @inlinable
  func leave(_ part: GRPCClientRequestPart<Request>, _ promise: EventLoopPromise<Void>?) {
    switch part {
    case .metadata(let headers):
      // Only now have the interceptors had their say.
      if chosen != nil || hasChosenFormat { onAnswer?(.formatWanted) }
      send(metadata: headers, promise)
    case .message(let message, let metadata):
      do {
        send(try chosen?.encode(message) ?? encode(message), metadata, promise)
      } catch {
        failToEncode(error, promise)
      }
    case .end:
      sendEnd(promise)
    }
  }

  /// The cycle of the pipeline and these closures is broken by `close`, when the call ends.
  @inlinable
  func receiveFromTransport<Requests: Marshaller, Responses: Marshaller>(
    _ requests: Requests,
    _ responses: Responses
  ) where Requests.Message == Request, Responses.Message == Response {
    onMessage = { bytes in
      do {
        let message = try self.chosen?.decode(bytes) ?? responses.decode(bytes)
        self.receiveOnLoop(.message(message), at: self.interceptors.count - 1)
      } catch {
        self.failToDecode(error)
      }
    }
    onAnswer = { answer in
      let last = self.interceptors.count - 1
      switch consume answer {
      case .metadata(let headers): return self.receiveOnLoop(.metadata(headers), at: last)
      case .end(let status, let trailers): self.receiveOnLoop(.end(status, trailers), at: last)
      case .failure(let status): self.errorCaught(status, at: last)
      case .formatWanted: return self.chooseFormat(requests, responses)
      }
      self.watchDeadline()
    }
  }

  /// Takes the format that the call's options ask for now.
  @inlinable
  func chooseFormat<Requests: Marshaller, Responses: Marshaller>(
    _ requests: Requests,
    _ responses: Responses
  ) where Requests.Message == Request, Responses.Message == Response {
    chosen = optionsWithFormat.map {
      ChosenFormat(Method(method, requests: requests, responses: responses), $0)
    }
    contentSubtype = chosen?.contentSubtype ?? ContentSubtype.of(requests, responses)
  }

  /// Starts a call that takes one request, from any thread.
  @inlinable
  func start(_ request: Request) {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.start(request) } }
    guard begin() else { return }
    sendOnLoop(.metadata(metadata), promise: nil, to: 0)
    sendOnLoop(.message(request, MessageMetadata()), promise: nil, to: 0)
    sendOnLoop(.end, promise: nil, to: 0)
    watchDeadline()
  }

  /// Starts a call that streams its requests, from any thread.
  @inlinable
  func startStream() {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.startStream() } }
    guard begin() else { return }
    sendOnLoop(.metadata(metadata), promise: nil, to: 0)
    watchDeadline()
  }

  /// How requests that stream are written to the chain, behind the interceptor at `index`.
  @inlinable
  func makeWriter(after index: Int = -1) -> PartWriter<Request> {
    PartWriter(eventLoop) {
      try self.nextGate(after: index)
    } send: { request, metadata in
      self.send(.message(request, metadata), promise: nil, to: index + 1)
    }
  }

  /// No request follows.
  @inlinable
  func finishRequests() {
    send(.end, promise: nil, to: 0)
  }
}
