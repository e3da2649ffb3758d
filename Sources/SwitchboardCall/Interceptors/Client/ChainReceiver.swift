/// What the transport tells of one call goes to the end of the chain, streamed messages as fast as the caller
/// reads them.
final class ChainReceiver: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone.
  private let end: ClientTransportEnd
  private let responses: MessagePipe?
  private var isReading = false
  private var outcome: (status: GRPCStatus, trailers: HPACKHeaders)?

  init(_ end: ClientTransportEnd, _ responses: MessagePipe?) {
    self.end = end
    self.responses = responses
  }

  var wantsMetadata: Bool { true }

  func receive(headers: HPACKHeaders) {
    end.onAnswer?(.metadata(headers))
    guard let responses else { return }
    isReading = true
    Task.immediate(executorPreference: end.transport.eventLoop) { await self.read(responses) }
  }

  func receive(message: RawSpan) { end.onMessage?(message) }

  func sent(_ part: SentPart) { end.sent(part) }

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    guard let responses, isReading else { return end.finish(status, trailers) }
    outcome = (status, trailers)
    responses.finish()
  }

  private func read(_ responses: MessagePipe) async {
    while let message = try? await responses.next() {
      message.withBytes { end.onMessage?($0) }
      await end.room?(message.byteCount)
    }
    if let outcome { end.finish(outcome.status, outcome.trailers) }
  }
}
