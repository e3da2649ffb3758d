import Dispatch
import SwitchboardServices

@testable import SwitchboardCall

/// One call of a client that receives arbitrary bytes: its events must come in order, and it must end once.
final class CallUnderFuzz: ResponseReceiver {
  private struct State {
    var hasHeaders = false
    var messageCount = 0
    var end: GRPCStatus?
    var complaint: String?
  }

  let wantsMetadata: Bool
  var wantsSent: Bool { wantsMetadata }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}
  private let responses: MessagePipe?
  private let state = Locked(State())
  private let ended = DispatchSemaphore(value: 0)

  /// With a pipe, responses are written to it.
  private init(wantsMetadata: Bool, responses: MessagePipe?) {
    self.wantsMetadata = wantsMetadata
    self.responses = responses
  }

  // MARK: Events

  func receive(headers: HPACKHeaders) {
    state.withLock { state in
      if state.hasHeaders { state.complaint = "headers received twice" }
      if state.messageCount > 0 { state.complaint = "headers received after a message" }
      if state.end != nil { state.complaint = "headers received after the end" }
      state.hasHeaders = true
    }
  }

  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {
    state.withLock { state in
      if responses != nil { state.complaint = "a streamed response bypassed its pipe" }
      if state.messageCount > 0 { state.complaint = "a single response received twice" }
      if state.end != nil { state.complaint = "a response received after the end" }
      state.messageCount += 1
    }
  }

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    state.withLock { state in
      if state.end != nil { state.complaint = "the call ended twice" }
      state.end = status
    }
    ended.signal()
  }

  /// Waits for the end; throws if the events violated the contract with callers.
  func check() throws {
    var waits = 0
    // Reads messages, because unread ones would delay the end.
    while drain(), ended.wait(timeout: .now() + .milliseconds(2)) == .timedOut {
      waits += 1
      try BrokenPromise.unless(waits < 5000, "a call does not end after its peer is gone")
    }
    let state = state.withLock { $0 }
    if let complaint = state.complaint { throw BrokenPromise(description: complaint) }
    _ = (state.end?.description, try? state.end?.richStatus?.textFormatString())
  }

  private func drain() -> Bool {
    while case .message = responses?.pop() {}
    return true
  }
}

// MARK: - The calls

extension CallUnderFuzz {
  /// A configuration that retries calls to some methods and hedges calls to others.
  static func config() throws -> ServiceConfig {
    let codes: Set<GRPCStatus.Code> = [.unavailable, .unknown, .internalError]
    let retry = try RetryPolicy(
      maxAttempts: 3,
      initialBackoff: .seconds(1),
      maxBackoff: .seconds(2),
      backoffMultiplier: 2,
      retryableStatusCodes: codes
    )
    let hedge = try HedgingPolicy(maxAttempts: 2, nonFatalStatusCodes: codes)
    return try ServiceConfig(
      methodConfigs: [
        MethodConfig(names: [.init(service: "f", method: "C")], repetition: .retry(retry)),
        MethodConfig(names: [.init(service: "f", method: "B")], repetition: .hedge(hedge)),
      ],
      retryThrottling: RetryThrottling(maxTokens: 10, tokenRatio: 1)
    )
  }

  /// A channel that retries without waiting.
  static func channel(over transport: any ByteTransport, _ config: ServiceConfig) -> Channel {
    var environment = CallEnvironment()
    environment.time = NoTime()
    environment.random = { 0.5 }
    return Channel(transport, serviceConfig: config, environment: environment)
  }

  /// Starts one call of each kind, in the order of their streams: 1, 3, 5, and 7 and 9 for the hedged one.
  static func startAll(on channel: Channel) -> [CallUnderFuzz] {
    let request = BytesMarshaller().encode([1, 2, 3])
    func requests() -> CallRequest.Body {
      let pipe = MessagePipe(limit: 1 << 16)
      pipe.push(request)
      pipe.finish()
      return .stream(pipe)
    }
    return [
      start("U", .unary, .message(request), wantsMetadata: true, on: channel),
      start("S", .serverStreaming, .message(request), wantsMetadata: false, on: channel),
      start("C", .clientStreaming, requests(), wantsMetadata: true, on: channel),
      start("B", .bidirectionalStreaming, requests(), wantsMetadata: true, on: channel),
    ]
  }

  private static func start(
    _ method: String,
    _ type: GRPCCallType,
    _ body: CallRequest.Body,
    wantsMetadata: Bool,
    on channel: Channel
  ) -> CallUnderFuzz {
    let method = MethodDescriptor(service: "f", method: method, type: type)
    return start(method, body, wantsMetadata: wantsMetadata, on: channel).receiver
  }

  static func start(
    _ method: MethodDescriptor,
    _ body: CallRequest.Body,
    wantsMetadata: Bool,
    contentSubtype: ContentSubtype = .unnamed,
    on channel: Channel
  ) -> (receiver: CallUnderFuzz, call: any ByteCall) {
    let responses = method.type.streamsResponses ? MessagePipe(limit: 1 << 16) : nil
    let receiver = CallUnderFuzz(wantsMetadata: wantsMetadata, responses: responses)
    let request = CallRequest(
      method: method,
      options: nil,
      body: body,
      responses: responses,
      contentSubtype: contentSubtype
    )
    let call = channel.engine.makeCall(request, receiver: receiver)
    call.start()
    return (receiver, call)
  }
}

/// Time that passes instantly.
private struct NoTime: CallTime {
  var now: ContinuousClock.Instant { .now }

  func sleep(until time: ContinuousClock.Instant) async throws { try Task.checkCancellation() }
}
