import Synchronization

/// A call whose responses are a stream, for as long as someone holds on to it: letting go cancels it.
@usableFromInline
final class StreamReader: Sendable {
  @usableFromInline let call: any ByteCall
  @usableFromInline let responses: MessagePipe
  private let writer = Locked<Task<Void, Never>?>(nil)
  private let loop: any EventLoop

  @usableFromInline
  init(
    _ channel: Channel,
    _ method: MethodDescriptor,
    _ options: CallOptions?,
    _ body: CallRequest.Body,
    _ contentSubtype: ContentSubtype,
    _ record: CallRecord? = nil
  ) {
    responses = MessagePipe(limit: channel.streamBufferSize)
    loop = channel.eventLoop
    let receiver = StreamReceiver(responses)
    call = channel.engine.makeCall(
      CallRequest(
        method: method,
        options: options,
        body: body,
        responses: responses,
        contentSubtype: contentSubtype
      ),
      receiver: record.map { RecordingReceiver($0, next: receiver) } ?? receiver
    )
  }

  /// A call that failed before anything could be sent.
  @usableFromInline
  init(_ channel: Channel, failing status: GRPCStatus) {
    responses = MessagePipe(limit: 0)
    responses.finish(status)
    loop = channel.eventLoop
    call = EndedCall()
  }

  deinit {
    call.cancel(.cancelledByCaller)
    writer.withLock { $0 }?.cancel()
  }

  /// Writes requests beside the reader, on the loop when that is where the call was made.
  @usableFromInline
  func write(_ body: @escaping @Sendable () async -> Void) {
    let task = loop.writeBeside(body)
    writer.withLock { $0 = task }
  }

  /// Ends the call, because a response could not be decoded: whoever reads on is told so again.
  @usableFromInline
  func fail(_ status: GRPCStatus) {
    call.cancel(status)
    responses.abort(status)
  }

  /// The next message. A task that is cancelled while it waits cancels the call.
  @usableFromInline
  nonisolated(nonsending) func next() async throws -> MessageBuffer? {
    switch responses.pop() {
    case .message(let message): return message
    case .end: return nil
    case .failed(let status): throw status
    case .empty: call.look { responses.isReadable }
    }
    do {
      return try await responses.next()
    } catch let error as CancellationError {
      call.cancel(.cancelledByCaller)
      throw error
    }
  }
}

/// Hands the end of a call to the reader of its responses.
final class StreamReceiver: ResponseReceiver {
  private let responses: MessagePipe

  init(_ responses: MessagePipe) {
    self.responses = responses
  }

  var wantsMetadata: Bool { false }

  func receive(headers: HPACKHeaders) {}

  func receive(message: RawSpan) {}

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    responses.finish(status.isOk ? nil : status)
  }
}

/// Stands for a call that never was.
@usableFromInline
final class EndedCall: ByteCall {
  @usableFromInline
  init() {}

  @usableFromInline
  func start() {}

  @usableFromInline
  func cancel(_ status: GRPCStatus) {}
}
