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
    let pipeline = ServerPipeline(stream, method, interceptors)
    let transport = pipeline.transport
    pipeline.toTransport = { part, promise in
      switch part {
      case .metadata(let headers):
        transport.send(metadata: headers, promise)
      case .message(let message, let metadata):
        do {
          transport.send(try responses.encode(message), metadata, promise)
        } catch {
          transport.failToEncode(error, promise)
        }
      case .end(let status, let trailers):
        transport.send(end: status, trailers, promise)
      }
    }
    pipeline.receiveFromTransport(requests)
    return pipeline
  }

  @inlinable
  func receiveFromTransport<Requests: Marshaller>(_ requests: Requests) where Requests.Message == Request {
    // The cycle of the pipeline and its end is broken by `close`, when the call ends.
    transport.onMessage = { bytes in
      do {
        self.receive(.message(try requests.decode(bytes)), at: 0)
      } catch {
        self.transport.fail(.marshalling(error, "decoded"))
      }
    }
    transport.onAnswer = { answer in
      switch answer {
      case .end: self.receive(.end, at: 0)
      case .failure(let status): self.errorCaught(status, at: 0)
      case .sendMetadata: self.sendMetadataAlone()
      }
    }
    transport.stream.observe(transport)
  }

  /// Brings the parts of a call whose one request is whole. On the loop.
  @inlinable
  func receive(message: RawSpan) {
    receive(.metadata(transport.stream.headers), at: 0)
    transport.onMessage?(message)
    receive(.end, at: 0)
  }

  /// Starts the handler with the metadata, and brings it the requests as they come. On the loop.
  @inlinable
  func onRequestStream(_ handle: @escaping (RequestStream<Request>) -> Void) {
    let queue = PartQueue<Request>()
    toHandler = { part in
      switch part {
      case .metadata(let headers):
        self.handler.headers = headers
        self.failRequests = { queue.finish($0) }
        handle(RequestStream(queue))
      case .message(let message):
        queue.push(message)
      case .end:
        queue.finish(nil)
      }
    }
    receive(.metadata(transport.stream.headers), at: 0)
    transport.readRequests { await queue.waitUntilWritable(afterBytes: $0) }
  }

  @inlinable
  func makeWriter() -> PartWriter<Response> {
    PartWriter(eventLoop) {
      guard self.isOpen else { throw GRPCStatus.callEnded }
      return self.transport.stream.responses
    } send: { response, metadata in
      self.sendMetadata()
      self.send(.message(response, metadata), promise: nil, to: self.interceptors.count - 1)
    }
  }
}
