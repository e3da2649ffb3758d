// unsafe: touched on its call's loop alone; continuations are taken out by whoever resumes them

import SwitchboardCall

/// One call of `next` by a whole-call interceptor, until the end of the responses.
final class WholeCallAttempt<Request: Sendable, Response: Sendable>: @unchecked Sendable {
  // Sendable holds because everything except the queue is used only on the event loop.

  typealias Head = StreamedResponse<Response>
  typealias Call = WholeCall<Request, Response>

  private var unary: UnsafeContinuation<UnaryResponse<Response>, any Error>?
  private var streamed: UnsafeContinuation<Head, any Error>?
  private var metadata = HPACKHeaders()
  private var message: Response?
  let responses: PartQueue<Response>
  private let trailers = Locked(HPACKHeaders())
  private var writer: Task<Void, Never>?
  private(set) var hasEnded = false

  init(_ call: Call) {
    responses = PartQueue(demand: call.ports.demandResponses)
  }

  // MARK: Requests

  func send(
    _ request: UnaryRequest<Request>,
    of call: Call,
    _ waiting: UnsafeContinuation<UnaryResponse<Response>, any Error>
  ) {
    unary = waiting
    call.ports.sendRequest(.metadata(request.metadata), call.requestPromises.takeMetadata())
    call.ports.sendRequest(.message(request.message), call.requestPromises.takeMessage())
    call.ports.sendRequest(.end, call.requestPromises.takeEnd())
  }

  func send(
    _ request: StreamedRequest<Request>,
    of call: Call,
    _ waiting: UnsafeContinuation<Head, any Error>
  ) {
    streamed = waiting
    call.ports.sendRequest(.metadata(request.metadata), call.requestPromises.takeMetadata())
    responses.open()
    writer = Task(executorPreference: call.ports.eventLoop) {
      do {
        for try await message in request.messages {
          try await call.ports.requestRoom()
          call.onLoop { if !self.hasEnded { $0.ports.sendRequest(.message(message), nil) } }
        }
        call.onLoop { if !self.hasEnded { $0.ports.sendRequest(.end, $0.requestPromises.takeEnd()) } }
      } catch {
        let status = call.ports.status(error)
        call.onLoop { self.giveUp(status, of: $0) }
      }
    }
  }

  /// Reading the requests failed.
  private func giveUp(_ status: GRPCStatus, of call: Call) {
    guard !hasEnded else { return }
    fail(status, HPACKHeaders(), of: call)
    call.abandonAttempt()
  }

  // MARK: Responses

  func take(_ part: GRPCClientResponsePart<Response>, of call: Call) {
    guard !hasEnded else { return }
    switch part {
    case .metadata(let headers):
      metadata = headers
      reportHead()
    case .message(let message):
      reportHead()
      if unary == nil { responses.push(message) } else { take(message, of: call) }
    case .end(let status, let trailers):
      guard status.isOk else { return fail(status, trailers, of: call) }
      succeed(trailers, of: call)
    }
  }

  private func take(_ message: Response, of call: Call) {
    if self.message != nil { return fail(.tooManyMessages, HPACKHeaders(), of: call) }
    self.message = message
  }

  private func reportHead() {
    guard let waiting = streamed else { return }
    streamed = nil
    waiting.resume(
      returning: StreamedResponse(
        metadata: metadata,
        messages: MessageStream(RequestStream(responses)),
        trailers: { [self] in trailers.withLock { $0 } }
      )
    )
  }

  private func succeed(_ trailers: HPACKHeaders, of call: Call) {
    if let waiting = unary {
      guard let message else { return fail(.missingResponse, trailers, of: call) }
      end()
      waiting.resume(returning: UnaryResponse(metadata: metadata, message: message, trailers: trailers))
    } else {
      reportHead()
      self.trailers.withLock { $0 = trailers }
      end()
      responses.finish(nil)
    }
  }

  func fail(_ status: GRPCStatus, _ trailers: HPACKHeaders, of call: Call) {
    guard !hasEnded else { return }
    call.lastFailure = (status, trailers)
    self.trailers.withLock { $0 = trailers }
    let (unary, streamed) = (unary, streamed)
    end()
    responses.finish(status)
    unary?.resume(throwing: status)
    streamed?.resume(throwing: status)
  }

  private func end() {
    hasEnded = true
    unary = nil
    streamed = nil
    writer?.cancel()
    writer = nil
  }
}
