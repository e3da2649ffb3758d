import Switchboard

/// Makes calls for a load worker.
package protocol LoadCaller: Sendable {
  /// Makes one call and waits for its end.
  nonisolated(nonsending) func call(_ index: UInt64) async -> LoadOutcome
}

/// How a call ended.
package struct LoadOutcome: Sendable {
  /// Nil if it succeeded.
  package var status: GRPCStatus?
  package var requests: UInt64
  package var responses: UInt64

  package init(status: GRPCStatus? = nil, requests: UInt64 = 1, responses: UInt64 = 1) {
    self.status = status
    self.requests = requests
    self.responses = responses
  }
}

/// Calls one method on a channel. Requests are already encoded, and responses are not decoded: only their size is read.
package struct MethodLoadCaller: LoadCaller {
  private let call: MethodCall<EncodedMarshaller, SizeMarshaller>
  private let type: GRPCCallType
  private let payloads: PayloadSource
  private let messagesPerCall: Int

  package init(
    _ method: MethodDescriptor,
    on channel: Channel,
    options: CallOptions?,
    payloads: PayloadSource,
    formats: (requests: ContentSubtype, responses: ContentSubtype) = (.unnamed, .unnamed),
    messagesPerCall: Int = 1
  ) {
    call = MethodCall(
      Method(
        method,
        requests: EncodedMarshaller(contentSubtype: formats.requests),
        responses: SizeMarshaller(contentSubtype: formats.responses)
      ),
      on: channel,
      options: options
    )
    type = method.type
    self.payloads = payloads
    self.messagesPerCall = messagesPerCall
  }

  package nonisolated(nonsending) func call(_ index: UInt64) async -> LoadOutcome {
    do {
      if type == .unary {
        _ = try await call.unary(payloads.payload(call: index))
        return LoadOutcome()
      }
      return try await stream(index)
    } catch {
      return LoadOutcome(status: GRPCStatus(describing: error), requests: 1, responses: 0)
    }
  }

  private nonisolated(nonsending) func stream(_ index: UInt64) async throws -> LoadOutcome {
    var outcome = LoadOutcome(requests: type.streamsRequests ? UInt64(messagesPerCall) : 1, responses: 0)
    let requests = LoadRequests(payloads: payloads, call: index, count: messagesPerCall)
    do {
      switch type {
      case .unary: break
      case .clientStreaming:
        _ = try await call.clientStreaming(requests)
        outcome.responses = 1
      case .serverStreaming:
        for try await _ in call.serverStreaming(try payloads.payload(call: index)) { outcome.responses += 1 }
      case .bidirectionalStreaming:
        for try await _ in call.bidirectionalStreaming(requests) { outcome.responses += 1 }
      }
    } catch {
      outcome.status = GRPCStatus(describing: error)
    }
    return outcome
  }
}

/// The requests of one call that streams them.
private struct LoadRequests: AsyncSequence, Sendable {
  let payloads: PayloadSource
  let call: UInt64
  let count: Int

  func makeAsyncIterator() -> Iterator { Iterator(requests: self) }

  struct Iterator: AsyncIteratorProtocol {
    let requests: LoadRequests
    var sent = 0

    mutating func next() async throws -> MessageBuffer? {
      guard sent < requests.count else { return nil }
      defer { sent += 1 }
      return try requests.payloads.payload(call: requests.call, message: sent)
    }
  }
}

/// Passes on requests that are already encoded.
struct EncodedMarshaller: Marshaller {
  let contentSubtype: ContentSubtype

  func encode(_ message: MessageBuffer) -> MessageBuffer { message }

  func decode(_ bytes: RawSpan) throws -> MessageBuffer {
    throw GRPCStatus(code: .internalError, message: "requests are only sent")
  }

  func reads(_ subtype: ContentSubtype) -> Bool { true }
}

/// Reads only the size of responses.
struct SizeMarshaller: Marshaller {
  let contentSubtype: ContentSubtype

  func encode(_ message: Int) throws -> MessageBuffer {
    throw GRPCStatus(code: .internalError, message: "responses are only received")
  }

  func decode(_ bytes: RawSpan) -> Int { bytes.byteCount }

  func reads(_ subtype: ContentSubtype) -> Bool { true }
}
