extension Channel {
  /// The chain of a call, with its marshallers at one end; the caller's end is for the caller to set.
  @inlinable
  func makePipeline<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions?,
    _ chain: ClientInterceptorChain<Requests.Message, Responses.Message>?
  ) -> ClientPipeline<Requests.Message, Responses.Message> {
    let pipeline = ClientPipeline<Requests.Message, Responses.Message>(
      self,
      method.descriptor,
      options,
      chain?.interceptors ?? []
    )
    let transport = pipeline.transport
    pipeline.toTransport = { [requests = method.requests] part, promise in
      switch part {
      case .metadata(let headers):
        transport.send(metadata: headers, promise)
      case .message(let message, let metadata):
        do {
          transport.send(try requests.encode(message), metadata, promise)
        } catch {
          transport.failToEncode(error, promise)
        }
      case .end:
        transport.sendEnd(promise)
      }
    }
    pipeline.receiveFromTransport(method.responses)
    return pipeline
  }
}

extension ClientPipeline {
  @inlinable
  func receiveFromTransport<Responses: Marshaller>(_ responses: Responses)
  where Responses.Message == Response {
    // The cycle of the pipeline and its end is broken by `close`, when the call ends.
    transport.onMessage = { bytes in
      do {
        let message = try responses.decode(bytes)
        self.receive(.message(message), at: self.interceptors.count - 1)
      } catch {
        self.transport.cancel(.marshalling(error, "decoded"))
      }
    }
    transport.onAnswer = { answer in
      let last = self.interceptors.count - 1
      switch answer {
      case .metadata(let headers): self.receive(.metadata(headers), at: last)
      case .end(let status, let trailers): self.receive(.end(status, trailers), at: last)
      case .failure(let status): self.errorCaught(status, at: last)
      }
      self.watchDeadline()
    }
  }

  /// Starts a call that takes one request, from any thread.
  @inlinable
  func start(_ request: Request) {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.start(request) } }
    guard begin() else { return }
    send(.metadata(transport.initialMetadata), promise: nil, to: 0)
    send(.message(request, MessageMetadata()), promise: nil, to: 0)
    send(.end, promise: nil, to: 0)
    watchDeadline()
  }

  /// Starts a call that streams its requests, from any thread.
  @inlinable
  func startStream() {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.startStream() } }
    guard begin() else { return }
    send(.metadata(transport.initialMetadata), promise: nil, to: 0)
    watchDeadline()
  }

  /// How requests that stream are written to the chain.
  @inlinable
  func makeWriter() -> PartWriter<Request> {
    PartWriter(eventLoop) {
      try self.writablePipe()
    } send: { request, metadata in
      self.send(.message(request, metadata), promise: nil, to: 0)
    }
  }

  /// No request follows.
  @inlinable
  func finishRequests() {
    send(.end, promise: nil, to: 0)
  }
}
