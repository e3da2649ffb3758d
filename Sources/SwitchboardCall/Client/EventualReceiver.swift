/// Decodes the one response of a call, for whoever waits for it.
@usableFromInline
final class EventualReceiver<Responses: Marshaller>: ResponseReceiver {
  private let marshaller: Responses
  private let response: Eventual<Responses.Message>
  private let decoded = Locked<Result<Responses.Message, GRPCStatus>?>(nil)

  @usableFromInline
  init(_ marshaller: Responses, _ response: Eventual<Responses.Message>) {
    self.marshaller = marshaller
    self.response = response
  }

  @usableFromInline
  var wantsMetadata: Bool { true }

  @usableFromInline
  func receive(headers: HPACKHeaders) {}

  @usableFromInline
  func receive(message: RawSpan) {
    let result = Result { () throws(GRPCStatus) in
      try GRPCStatus.decoding { try marshaller.decode(message) }
    }
    decoded.withLock { $0 = result }
  }

  @usableFromInline
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    guard status.isOk else { return response.settle(.failure(status)) }
    response.settle(decoded.withLock { $0 } ?? .failure(.missingResponse))
  }
}
