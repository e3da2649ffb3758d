// What the transport tells, on its event loop.
extension ClientPipeline: ResponseReceiver {
  @usableFromInline
  var wantsMetadata: Bool { true }

  @usableFromInline
  var wantsSent: Bool {
    // A call that does not stream its requests has all promises when it starts.
    method.type.streamsRequests || !promises.isEmpty
  }

  @usableFromInline
  func receive(headers: HPACKHeaders) {
    if isOpen { codec.headers(self, headers) }
    guard let responses else { return }
    responses.isReading = true
    Task.immediate(executorPreference: eventLoop) { await self.read(responses) }
  }

  @usableFromInline
  func receive(message: RawSpan) {
    if isOpen { codec.message(self, message) }
  }

  @usableFromInline
  func sent(_ part: SentPart) { promises.complete(part, on: eventLoop) }

  /// What streamed before is told before the end is.
  @usableFromInline
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    guard let responses, responses.isReading else { return finish(status, trailers) }
    responses.outcome = (status, trailers)
    responses.pipe.finish()
    guard responses.waiter != nil else { return }
    // The chain holds the rest back: it may ask for it later, unless this side ended the call.
    if responses.isAbandoned || responses.pipe.isDrained || status.origin != .peer {
      responses.abandon()
    } else {
      call = nil
      watchDeadline()
    }
  }

  /// Lets so many more responses come to the chain.
  @usableFromInline
  func addDemand(_ count: Int) {
    guard count > 0 else { return }
    let (sum, overflow) = demand.addingReportingOverflow(count)
    demand = overflow ? .max : sum
    responses?.resume()
  }

  /// Reads responses as fast as the chain asks for them, and its caller has room.
  private func read(_ responses: StreamedAnswers) async {
    while troubles?.decodingFailure == nil, await isAskedFor(responses),
      let message = try? await responses.pipe.next(),
      self.responses === responses
    {
      if demand != .max { demand -= 1 }
      message.withBytes { receive(message: $0) }
      await room?(message.byteCount)
    }
    responses.isReading = false
    if let outcome = responses.outcome, self.responses === responses {
      finish(outcome.status, outcome.trailers)
    }
  }

  /// Waits until the chain wants another response. `false` at the end, which is told whether it wants it or not.
  private func isAskedFor(_ responses: StreamedAnswers) async -> Bool {
    while demand <= 0 {
      if responses.isAbandoned || responses.pipe.isDrained || !isOpen { return false }
      await withUnsafeContinuation { responses.waiter = $0 }
    }
    return true
  }
}

/// The streamed responses of one call on the transport.
final class StreamedAnswers: @unchecked Sendable {
  // Sendable holds because everything but the pipe is touched on the event loop alone.
  let pipe: MessagePipe
  var isReading = false
  /// What is left unread stays so.
  private(set) var isAbandoned = false
  /// How the call ended, when what came before is still to be read.
  var outcome: (status: GRPCStatus, trailers: HPACKHeaders)?
  /// The reader, while the chain wants no response.
  var waiter: UnsafeContinuation<Void, Never>?

  init(_ limit: Int) { pipe = MessagePipe(limit: limit) }

  /// Nobody will read any more: a reader that waits to be asked comes to its end.
  func abandon() {
    isAbandoned = true
    resume()
  }

  func resume() {
    let waiting = waiter
    waiter = nil
    waiting?.resume()
  }
}
