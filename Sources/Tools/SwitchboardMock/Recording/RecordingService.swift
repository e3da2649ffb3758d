import Switchboard
import SwitchboardProtobuf

/// A service that forwards its calls unchanged to a server.
struct RecordingService: CallHandlerProvider {
  let serviceName: String
  let methods: [MockMethod]
  let types: TypeRegistry
  let channel: Channel
  /// Metadata of every forwarded call.
  let metadata: HPACKHeaders
  /// Whether the protocol of the channel sends the status as `grpc-status`. Connect does not.
  let hasStatusInTrailers: Bool
  let recorder: MockRecorder

  private typealias BytesMethod = Method<ForwardedMarshaller, ForwardedMarshaller>
  private typealias BytesCall = MethodCall<ForwardedMarshaller, ForwardedMarshaller>

  func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] {
    methods.jsonFormat(of: method, types)
  }

  var methodHandlers: [MethodHandler] {
    methods.map { method in
      let bytes = BytesMethod(
        method.descriptor,
        requests: ForwardedMarshaller(),
        responses: ForwardedMarshaller()
      )
      switch method.type {
      case .unary:
        return bytes.unaryHandler { request, context in
          try await self.one(method, .one(request), context) { try await $0(bytes).unary(request) }
        }
      case .clientStreaming:
        return bytes.clientStreamingHandler { requests, context in
          let passed = PassedRequests(requests)
          return try await self.one(method, .many(passed), context) {
            try await $0(bytes).clientStreaming(passed)
          }
        }
      case .serverStreaming:
        return bytes.serverStreamingHandler { request, responses, context in
          try await self.many(method, .one(request), responses, context) {
            $0(bytes).serverStreaming(request)
          }
        }
      case .bidirectionalStreaming:
        return bytes.bidirectionalStreamingHandler { requests, responses, context in
          let passed = PassedRequests(requests)
          try await self.many(method, .many(passed), responses, context) {
            $0(bytes).bidirectionalStreaming(passed)
          }
        }
      }
    }
  }

  private func call(_ method: BytesMethod, _ context: ServerCallContext, _ witness: AnswerWitness)
    -> BytesCall
  {
    var options = CallOptions(initialMetadata: passed(context.headers))
    if let deadline = context.deadline { options.timeout = max(.zero, deadline - .now) }
    return MethodCall(method, on: channel, options: options, interceptors: CallInterceptors([witness]))
  }

  /// Fields of the connection of a caller, or of the protocol by which it calls.
  private static let connectionFields: Set = [
    "te", "content-type", "user-agent", "host", "accept", "accept-encoding", "content-encoding",
    "content-length", "connection", "transfer-encoding", "expect", "origin", "referer", "x-grpc-web",
  ]

  /// The metadata that the caller set, and that of the recording. The other fields belong to the connection.
  private func passed(_ headers: HPACKHeaders) -> HPACKHeaders {
    var passed = metadata
    for (name, value) in headers {
      let isOwn =
        ![":", "grpc-", "connect-", "sec-"].contains(where: name.hasPrefix)
        && !Self.connectionFields.contains(name)
        && metadata.first(name: name) == nil
      if isOwn { passed.add(name: name, value: value) }
    }
    return passed
  }

  private func one(
    _ method: MockMethod,
    _ requests: Requests,
    _ context: ServerCallContext,
    _ pass: ((BytesMethod) -> BytesCall) async throws -> [UInt8]
  ) async throws -> [UInt8] {
    let start = ContinuousClock.now
    let answer = Answer()
    let result: Result<[UInt8], GRPCStatus>
    do {
      result = .success(try await pass { call($0, context, AnswerWitness(answer, of: self)) })
    } catch {
      result = .failure(GRPCStatus(describing: error))
    }
    if answer.isWhole, let requests = requests.whole {
      var recorded = RecordedCall(method: method, request: requests.first ?? [], delay: .now - start)
      switch result {
      case .success(let response): recorded.responses = [response]
      case .failure(let status): recorded.status = status
      }
      recorder.record(recorded)
    } else {
      recorder.leaveOut()
    }
    return try result.get()
  }

  private func many(
    _ method: MockMethod,
    _ requests: Requests,
    _ responses: ResponseStreamWriter<[UInt8]>,
    _ context: ServerCallContext,
    _ pass: ((BytesMethod) -> BytesCall) -> ResponseStream<[UInt8]>
  ) async throws {
    let start = ContinuousClock.now
    let answer = Answer()
    var delay: Duration?
    var kept: [[UInt8]] = []
    var count = 0
    var isPassedOn = true
    var failure: GRPCStatus?
    do {
      for try await response in pass({ call($0, context, AnswerWitness(answer, of: self)) }) {
        if delay == nil { delay = .now - start }
        count += 1
        if count <= MockRecorder.messageLimit { kept.append(response) }
        do {
          try await responses.send(response)
        } catch {
          isPassedOn = false
          throw error
        }
      }
    } catch {
      failure = GRPCStatus(describing: error)
    }
    if answer.isWhole, isPassedOn, count == kept.count, let requests = requests.whole {
      recorder.record(
        RecordedCall.all(
          of: method,
          requests: requests,
          responses: kept,
          status: failure,
          delay: delay ?? .now - start
        )
      )
    } else {
      recorder.leaveOut()
    }
    if let failure { throw failure }
  }

  /// The requests of a call.
  private enum Requests {
    case one([UInt8])
    case many(PassedRequests)

    /// Nil if there were more than are recorded.
    var whole: [[UInt8]]? {
      switch self {
      case .one(let request): [request]
      case .many(let passed): passed.whole
      }
    }
  }
}

/// Messages in binary, which are passed on as they are.
private struct ForwardedMarshaller: Marshaller {
  func reads(_ subtype: ContentSubtype) -> Bool { subtype.isUnnamed || subtype == .proto }
  func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }
  func decode(_ bytes: RawSpan) -> [UInt8] { BytesMarshaller().decode(bytes) }
  func decodesQuickly(_ bytes: RawSpan) -> Bool { true }
}

/// Whether the server itself ended a call. Otherwise the connection broke, the caller left, or its time was over, and
/// what came until then is not what the server answers.
private final class Answer: Sendable {
  private let isEnded = Locked(false)

  var isWhole: Bool { isEnded.withLock { $0 } }

  func end() { isEnded.withLock { $0 = true } }
}

/// Tells an ``Answer`` of the end that the server sends.
private final class AnswerWitness: ClientInterceptor<[UInt8], [UInt8]> {
  private let answer: Answer
  private let hasStatusInTrailers: Bool

  init(_ answer: Answer, of service: RecordingService) {
    self.answer = answer
    hasStatusInTrailers = service.hasStatusInTrailers
  }

  override func receive(
    _ part: GRPCClientResponsePart<[UInt8]>,
    context: ClientInterceptorContext<[UInt8], [UInt8]>
  ) {
    if case .end(let status, let trailers) = part {
      if status.isOk
        || (hasStatusInTrailers ? trailers.first(name: "grpc-status") != nil : status.origin == .peer)
      {
        answer.end()
      }
    }
    context.receive(part)
  }
}

/// Forwards a caller's requests to the server, and keeps them up to a limit.
private final class PassedRequests: AsyncSequence, Sendable {
  private let requests: RequestStream<[UInt8]>
  /// Nil once there are too many.
  private let kept = Locked<[[UInt8]]?>([])

  init(_ requests: RequestStream<[UInt8]>) { self.requests = requests }

  /// The requests so far; nil if they are too many to be kept.
  var whole: [[UInt8]]? { kept.withLock { $0 } }

  func makeAsyncIterator() -> Iterator { Iterator(passed: self, base: requests.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    let passed: PassedRequests
    var base: RequestStream<[UInt8]>.AsyncIterator

    mutating func next() async throws -> [UInt8]? {
      let request = try await base.next(isolation: #isolation)
      if let request {
        passed.kept.withLock { kept in
          if kept?.count == MockRecorder.messageLimit { kept = nil } else { kept?.append(request) }
        }
      }
      return request
    }
  }
}
