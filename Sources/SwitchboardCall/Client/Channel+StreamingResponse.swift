extension Channel {
  /// One request, a stream of responses. The call starts now; dropping the stream cancels it.
  @inlinable
  public func serverStreaming<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    _ request: Requests.Message,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) -> ResponseStream<Responses.Message> {
    do {
      let message = try GRPCStatus.encoding { try requests.encode(request) }
      let stream = StreamReader(self, method, options, .message(message), .of(requests, responses))
      stream.call.start()
      return ResponseStream(stream) { try responses.decode($0) }
    } catch {
      return ResponseStream(StreamReader(self, failing: error)) { try responses.decode($0) }
    }
  }

  /// A sequence of requests, written while the responses are read.
  @inlinable
  public func bidirectionalStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: Sequence<Requests.Message> & Sendable
  >(
    _ method: MethodDescriptor,
    _ messages: Messages,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) -> ResponseStream<Responses.Message> {
    let pipe = MessagePipe(limit: streamBufferSize)
    let stream = StreamReader(self, method, options, .stream(pipe), .of(requests, responses))
    stream.call.start()
    stream.write { [call = stream.call] in
      do {
        for message in messages {
          try await pipe.write(try GRPCStatus.encoding { try requests.encode(message) })
        }
        pipe.finish()
      } catch {
        call.stopWriting(error, pipe)
      }
    }
    return ResponseStream(stream) { try responses.decode($0) }
  }

  /// A sequence of requests as they come, written while the responses are read.
  @inlinable
  public func bidirectionalStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: MethodDescriptor,
    _ messages: Messages,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) -> ResponseStream<Responses.Message> where Messages.Element == Requests.Message {
    let pipe = MessagePipe(limit: streamBufferSize)
    let stream = StreamReader(self, method, options, .stream(pipe), .of(requests, responses))
    stream.call.start()
    stream.write { [call = stream.call] in
      do {
        for try await message in messages {
          try await pipe.write(try GRPCStatus.encoding { try requests.encode(message) })
        }
        pipe.finish()
      } catch {
        call.stopWriting(error, pipe)
      }
    }
    return ResponseStream(stream) { try responses.decode($0) }
  }
}
