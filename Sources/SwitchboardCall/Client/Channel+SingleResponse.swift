extension Channel {
  /// One request, one response.
  @inlinable
  nonisolated(nonsending) public func unary<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    _ request: Requests.Message,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) async throws -> Responses.Message {
    let message = try GRPCStatus.encoding { try requests.encode(request) }
    let receiver = SingleResponseReceiver(responses)
    let call = engine.makeCall(
      CallRequest(
        method: method,
        options: options,
        body: .message(message),
        contentSubtype: .of(requests, responses)
      ),
      receiver: receiver
    )
    return try await receiver.response(of: call)
  }

  /// A sequence of requests, one response. Stops writing when the server has answered.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: Sequence<Requests.Message>
  >(
    _ method: MethodDescriptor,
    _ messages: Messages,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) async throws -> Responses.Message {
    let pipe = MessagePipe(limit: streamBufferSize)
    let receiver = SingleResponseReceiver(responses)
    let call = engine.makeCall(
      CallRequest(
        method: method,
        options: options,
        body: .stream(pipe),
        contentSubtype: .of(requests, responses)
      ),
      receiver: receiver
    )
    call.start()
    do {
      for message in messages {
        try await pipe.write(try GRPCStatus.encoding { try requests.encode(message) })
      }
      pipe.finish()
    } catch {
      call.stopWriting(error, pipe)
    }
    return try await receiver.responseOfStarted(call)
  }

  /// A sequence of requests as they come, one response. Stops writing when the call has ended, also where the sequence
  /// has nothing to give then.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: MethodDescriptor,
    _ messages: Messages,
    requests: Requests,
    responses: Responses,
    options: CallOptions? = nil
  ) async throws -> Responses.Message where Messages.Element == Requests.Message {
    let pipe = MessagePipe(limit: streamBufferSize)
    let receiver = SingleResponseReceiver(responses)
    let call = engine.makeCall(
      CallRequest(
        method: method,
        options: options,
        body: .stream(pipe),
        contentSubtype: .of(requests, responses)
      ),
      receiver: receiver
    )
    call.start()
    let writing = eventLoop.writeBeside {
      do {
        for try await message in messages {
          try await pipe.write(try GRPCStatus.encoding { try requests.encode(message) })
        }
        pipe.finish()
      } catch {
        call.stopWriting(error, pipe)
      }
    }
    defer { writing.cancel() }
    return try await receiver.responseOfStarted(call)
  }

  /// How much a stream holds unread before its writer waits.
  @usableFromInline var streamBufferSize: Int { engine.streamBufferSize }
}

extension EventLoop {
  /// Writes requests beside whoever waits for what comes of them: on the loop where the caller is there, and otherwise
  /// away from it, as the caller's sequence may do anything.
  @usableFromInline
  func writeBeside(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    inEventLoop ? Task(executorPreference: self) { await body() } : Task { await body() }
  }
}

extension ByteCall {
  /// Writing has failed: because the call ended, which then says so itself, or because of the writer, whose
  /// error ends the call.
  @usableFromInline
  func stopWriting(_ error: any Error, _ pipe: MessagePipe) {
    guard !pipe.hasEnded else { return }
    cancel(error is CancellationError ? .cancelledByCaller : GRPCStatus(describing: error))
  }
}

extension GRPCStatus {
  @usableFromInline
  static let cancelledByCaller = GRPCStatus(code: .cancelled, message: "the caller cancelled the call")
}
