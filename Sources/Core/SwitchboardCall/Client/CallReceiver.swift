// unsafe: closures that the transport calls on its loop alone

/// Passes the transport's reports on a call to the code that waits for them.
///
/// Closures are specialized for the call's types; methods of a generic class, called by the transport, would not be.
@usableFromInline
final class CallReceiver: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because all state is immutable, and the transport calls the closures only on its loop.
  private let record: CallRecord?
  private let onMessage: (RawSpan) -> Void
  private let decoder: (RawSpan) -> ResponseDecoder?
  private let onEnd: End

  /// Ends the call and completes its record: a parameter, because a closure that captures one object allocates nothing.
  @usableFromInline typealias End = (GRPCStatus, HPACKHeaders, CallRecord?) -> Void

  @usableFromInline
  init(
    _ record: CallRecord?,
    onMessage: @escaping (RawSpan) -> Void,
    decoder: @escaping (RawSpan) -> ResponseDecoder?,
    onEnd: @escaping End
  ) {
    self.record = record
    self.onMessage = onMessage
    self.decoder = decoder
    self.onEnd = onEnd
  }

  /// Decodes the single response of a call, on the transport's loop.
  @inlinable
  convenience init<ResponseMarshaller: Marshaller>(
    _ record: CallRecord?,
    _ handover: ResponseHandover<ResponseMarshaller.Message>,
    _ marshaller: ResponseMarshaller
  ) {
    self.init(record) { bytes in
      handover.take { try marshaller.decode(bytes) }
    } decoder: { bytes in
      marshaller.decodesOnLoop(bytes) ? nil : handover.decoder { try marshaller.decode($0) }
    } onEnd: { status, trailers, record in
      handover.end(status, trailers, record)
    }
  }

  /// Ends the stream of responses, which the transport fills directly.
  @usableFromInline
  convenience init(_ record: CallRecord?, _ responses: MessagePipe) {
    self.init(record) { _ in
    } decoder: { _ in
      nil
    } onEnd: { status, trailers, record in
      record?.close(status, trailers)
      responses.finish(status.isOk ? nil : status)
    }
  }

  /// Without a record, metadata and trailers would be discarded.
  @usableFromInline
  var wantsMetadata: Bool { record != nil }

  @usableFromInline var wantsSent: Bool { false }
  @usableFromInline func sent(_ part: SentPart) {}
  @usableFromInline func receive(headers: HPACKHeaders) { record?.receive(headers: headers) }

  @usableFromInline
  func responseWasCompressed() { record?.responseWasCompressed.store(true, ordering: .relaxed) }

  @usableFromInline
  func receive(message: RawSpan) { onMessage(message) }

  @usableFromInline
  func decoder(for message: RawSpan) -> ResponseDecoder? { decoder(message) }

  @usableFromInline
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) { onEnd(status, trailers, record) }
}

/// A placeholder for a call that was never made.
@usableFromInline
final class EndedCall: ByteCall {
  @usableFromInline
  init() {}

  @usableFromInline func start() {}
  @usableFromInline func poll(until isReady: () -> Bool) {}
  @usableFromInline func cancel(_ status: GRPCStatus) {}
}
