import Synchronization

/// Decodes the one response of a call, and remembers the rest, for whoever waits for them.
@usableFromInline
final class EventualReceiver<Responses: Marshaller>: ResponseReceiver {
  private let marshaller: Responses
  private let record: CallRecord
  private let response: Eventual<Responses.Message>
  private let decoded = Locked<Result<Responses.Message, GRPCStatus>?>(nil)

  @usableFromInline
  init(_ marshaller: Responses, _ record: CallRecord, _ response: Eventual<Responses.Message>) {
    self.marshaller = marshaller
    self.record = record
    self.response = response
  }

  @usableFromInline
  var wantsMetadata: Bool { true }

  @usableFromInline
  func receive(headers: HPACKHeaders) { record.receive(headers: headers) }

  @usableFromInline
  func responseWasCompressed() { record.responseWasCompressed.store(true, ordering: .relaxed) }

  @usableFromInline
  func receive(message: RawSpan) {
    let result = Result { () throws(GRPCStatus) in
      try GRPCStatus.decoding { try marshaller.decode(message) }
    }
    decoded.withLock { $0 = result }
  }

  /// A response that could not be decoded fails the call, whatever the server says.
  @usableFromInline
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    let result: Result<Responses.Message, GRPCStatus> =
      status.isOk ? decoded.withLock { $0 } ?? .failure(.missingResponse) : .failure(status)
    switch result {
    case .success: record.close(status, trailers)
    case .failure(let failure): record.close(failure, trailers)
    }
    response.settle(result.mapError { $0 })
  }
}
