// unsafe: a chain is touched on its call's loop alone, and keeps its interceptors while one runs; its one end
//   resumes the caller

// The reports of the transport, on its event loop.
extension ClientChain: ResponseReceiver {
  @usableFromInline
  var wantsMetadata: Bool { true }

  @usableFromInline
  var wantsSent: Bool {
    // A call that does not stream its requests has all its promises when it starts.
    method.type.streamsRequests || !promises.isEmpty
  }

  @usableFromInline func sent(_ part: SentPart) { promises.complete(part, on: eventLoop) }
  @usableFromInline func responseWasCompressed() {}

  @usableFromInline
  func receive(headers: consuming HPACKHeaders) {
    if isOpen { codec.headers(self, headers) }
    guard let responses = rare?.responses else { return }
    responses.isReading = true
    Task.immediate(executorPreference: eventLoop) { await self.read(responses) }
  }

  @usableFromInline
  func receive(message: RawSpan) {
    if isOpen { codec.message(self, message) }
  }

  @usableFromInline
  func decoder(for message: RawSpan) -> ResponseDecoder? {
    let decoder = codec.decoder(self)
    guard !decoder.decodesOnLoop(message) else { return nil }
    return DecodedMessage.decoder(decoder.decode) { response in
      if self.isOpen { self.receive(response) }
    }
  }

  private func receive(_ decode: () throws -> Response) {
    do {
      receiveFirst(.message(try decode()))
    } catch {
      failToDecode(error)
    }
  }

  /// Ends the call, after the messages that were streamed before.
  @usableFromInline
  func close(_ status: consuming GRPCStatus, trailers: consuming HPACKHeaders) {
    guard let responses = rare?.responses, responses.isReading else { return finish(status, trailers) }
    let isOfPeer = status.origin == .peer
    responses.outcome = (status, trailers)
    responses.pipe.finish()
    if !isOfPeer {
      responses.credit.close()
    } else {
      watchDemand(of: responses)
    }
  }

  /// The chain may demand the rest of an ended call later. Until then, the transport does not enforce the deadline.
  private func watchDemand(of responses: StreamedAnswers) {
    guard responses.credit.count == 0 else { return }
    call = nil
    watchDeadline()
  }

  /// Reads responses as fast as the chain demands them and the caller has room.
  private func read(_ responses: StreamedAnswers) async {
    var reading = SharedReading()
    while rare?.decodingFailure == nil, let message = try? await responses.pipe.next() {
      if responses.outcome != nil, rare?.responses === responses { watchDemand(of: responses) }
      guard (try? await responses.credit.take()) != nil, rare?.responses === responses else { break }
      if reading.mayTake(message) {
        message.withBytes { receive(message: $0) }
      } else {
        let result: Result<Response, any Error>
        do {
          result = .success(try await reading.take(message, of: responses.pipe, codec.decoder(self)))
        } catch {
          result = .failure(error)
        }
        guard rare?.responses === responses else { break }
        if isOpen {
          rare?.keepNext?(reading.large)
          receive { try result.get() }
          // Interceptors with other work may pass it on later.
          if sideWork?.isIdle ?? true { rare?.keepNext?(nil) }
        }
      }
      try? await rare?.room?(message.byteCount)
      reading.readsOn()
    }
    responses.isReading = false
    if let outcome = responses.outcome, rare?.responses === responses {
      finish(outcome.status, outcome.trailers)
    }
  }
}

/// The streamed responses of one call on the transport.
final class StreamedAnswers: @unchecked Sendable {
  // Sendable holds because everything except the pipe and the credit is used only on the event loop.
  let pipe: MessagePipe
  /// How many more messages the chain demands.
  let credit: Credit
  var isReading = false
  /// How the call ended, while earlier messages are still to be read.
  var outcome: (status: GRPCStatus, trailers: HPACKHeaders)?

  init(_ limit: Int, _ credit: Credit) {
    pipe = MessagePipe(limit: limit)
    self.credit = credit
  }
}
