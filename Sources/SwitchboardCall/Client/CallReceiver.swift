/// Brings what the transport tells of a call to those who wait for it.
///
/// It is made of closures, so that what it does is compiled for the types of the call: the transport would call methods of
/// a generic class in their unspecialised form.
@usableFromInline
final class CallReceiver: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because nothing changes, and the transport calls the closures on its loop alone.
  private let record: CallRecord?
  private let onMessage: (RawSpan) -> Void
  private let onEnd: End

  /// Takes the end of the call and completes its record. It is handed the record: a closure that captures one object alone
  /// needs no memory of its own.
  @usableFromInline typealias End = (GRPCStatus, HPACKHeaders, CallRecord?) -> Void

  @usableFromInline
  init(_ record: CallRecord?, onMessage: @escaping (RawSpan) -> Void, onEnd: @escaping End) {
    self.record = record
    self.onMessage = onMessage
    self.onEnd = onEnd
  }

  /// Decodes the one response of a call, on the transport's loop.
  @inlinable
  convenience init<ResponseMarshaller: Marshaller>(
    _ record: CallRecord?,
    _ handover: ResponseHandover<ResponseMarshaller.Message>,
    _ marshaller: ResponseMarshaller
  ) {
    self.init(record) { bytes in
      handover.take { try marshaller.decode(bytes) }
    } onEnd: { status, trailers, record in
      handover.end(status, trailers, record)
    }
  }

  /// Ends the stream of responses, which the transport fills by itself.
  @usableFromInline
  convenience init(_ record: CallRecord?, _ responses: MessagePipe) {
    self.init(record) { _ in
    } onEnd: { status, trailers, record in
      record?.close(status, trailers)
      responses.finish(status.isOk ? nil : status)
    }
  }

  /// Where nobody keeps metadata and trailers, they would go nowhere.
  @usableFromInline
  var wantsMetadata: Bool { record != nil }

  @usableFromInline
  func receive(headers: HPACKHeaders) { record?.receive(headers: headers) }

  @usableFromInline
  func responseWasCompressed() { record?.responseWasCompressed.store(true, ordering: .relaxed) }

  @usableFromInline
  func receive(message: RawSpan) { onMessage(message) }

  @usableFromInline
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) { onEnd(status, trailers, record) }
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
