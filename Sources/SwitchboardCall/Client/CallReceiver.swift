/// Brings what the transport tells of a call to those who wait for it.
///
/// It is made of closures, so that what it does is compiled for the types of the call: the transport would call methods of
/// a generic class in their unspecialised form.
@usableFromInline
final class CallReceiver: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because nothing changes, and the transport calls the closures on its loop alone.
  private let record: CallRecord?
  private let onMessage: (RawSpan) -> Void
  /// Says how the call has ended, and is followed by `onEnd`.
  private let onStatus: (GRPCStatus) -> GRPCStatus
  private let onEnd: (GRPCStatus) -> Void

  @usableFromInline
  init(
    _ record: CallRecord?,
    onMessage: @escaping (RawSpan) -> Void,
    onStatus: @escaping (GRPCStatus) -> GRPCStatus,
    onEnd: @escaping (GRPCStatus) -> Void
  ) {
    self.record = record
    self.onMessage = onMessage
    self.onStatus = onStatus
    self.onEnd = onEnd
  }

  /// Decodes the one response of a call, on the transport's loop.
  @inlinable
  convenience init<Responses: Marshaller>(
    _ record: CallRecord?,
    _ handover: ResponseHandover<Responses.Message>,
    _ marshaller: Responses
  ) {
    self.init(record) { bytes in
      handover.take { try marshaller.decode(bytes) }
    } onStatus: { status in
      handover.end(status)
    } onEnd: { _ in
      handover.settle()
    }
  }

  /// Ends the stream of responses, which the transport fills by itself.
  @usableFromInline
  convenience init(_ record: CallRecord?, _ responses: MessagePipe) {
    self.init(record) { _ in
    } onStatus: { status in
      status
    } onEnd: { status in
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
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    let status = onStatus(status)
    record?.close(status, trailers)
    onEnd(status)
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
