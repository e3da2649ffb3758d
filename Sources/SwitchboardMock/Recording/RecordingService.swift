import Switchboard
import SwitchboardProtobuf

/// A service that forwards its calls unchanged to a server.
struct RecordingService: CallHandlerProvider {
  let serviceName: String
  let methods: [MockMethod]
  let channel: Channel
  let recorder: MockRecorder

  private typealias BytesMethod = Method<BytesMarshaller, BytesMarshaller>

  var methodHandlers: [MethodHandler] {
    methods.map { method in
      let bytes = BytesMethod(method.descriptor, requests: BytesMarshaller(), responses: BytesMarshaller())
      switch method.type {
      case .unary:
        return bytes.unaryHandler { request, context in
          try await self.one(method, request) { try await self.call(bytes, context).unary(request) }
        }
      case .clientStreaming:
        return bytes.clientStreamingHandler { requests, context in
          let passed = PassedRequests(requests)
          return try await self.one(method, { passed.first }) {
            try await self.call(bytes, context).clientStreaming(passed)
          }
        }
      case .serverStreaming:
        return bytes.serverStreamingHandler { request, responses, context in
          let stream = self.call(bytes, context).serverStreaming(request)
          try await self.many(method, { [request] }, stream, responses)
        }
      case .bidirectionalStreaming:
        return bytes.bidirectionalStreamingHandler { requests, responses, context in
          let passed = PassedRequests(requests)
          let stream = self.call(bytes, context).bidirectionalStreaming(passed)
          try await self.many(method, { passed.all }, stream, responses)
        }
      }
    }
  }

  private func call(_ method: BytesMethod, _ context: ServerCallContext) -> MethodCall<
    BytesMarshaller, BytesMarshaller
  > {
    var options = CallOptions(initialMetadata: Self.passed(context.headers))
    if let deadline = context.deadline { options.timeout = max(.zero, deadline - .now) }
    return MethodCall(method, on: channel, options: options)
  }

  /// The metadata that the caller set. The other fields belong to the connection.
  private static func passed(_ headers: HPACKHeaders) -> HPACKHeaders {
    var passed = HPACKHeaders()
    for (name, value) in headers {
      let isOwn =
        !name.hasPrefix(":") && !name.hasPrefix("grpc-")
        && !["te", "content-type", "user-agent"].contains(name)
      if isOwn { passed.add(name: name, value: value) }
    }
    return passed
  }

  private func one(
    _ method: MockMethod,
    _ request: [UInt8],
    _ pass: () async throws -> [UInt8]
  ) async throws -> [UInt8] {
    try await one(method, { request }, pass)
  }

  private func one(
    _ method: MockMethod,
    _ request: () -> [UInt8],
    _ pass: () async throws -> [UInt8]
  ) async throws -> [UInt8] {
    let start = ContinuousClock.now
    do {
      let response = try await pass()
      recorder.record(
        RecordedCall(method: method, request: request(), responses: [response], delay: .now - start)
      )
      return response
    } catch {
      let status = GRPCStatus(describing: error)
      recorder.record(RecordedCall(method: method, request: request(), status: status, delay: .now - start))
      throw status
    }
  }

  private func many(
    _ method: MockMethod,
    _ requests: () -> [[UInt8]],
    _ stream: ResponseStream<[UInt8]>,
    _ responses: ResponseStreamWriter<[UInt8]>
  ) async throws {
    let start = ContinuousClock.now
    var delay: Duration?
    var kept: [[UInt8]] = []
    var failure: GRPCStatus?
    do {
      for try await response in stream {
        if delay == nil { delay = .now - start }
        if kept.count < MockRecorder.messageLimit { kept.append(response) }
        try await responses.send(response)
      }
    } catch {
      failure = GRPCStatus(describing: error)
    }
    recorder.record(
      RecordedCall.all(
        of: method,
        requests: requests(),
        responses: kept,
        status: failure,
        delay: delay ?? .now - start
      )
    )
    if let failure { throw failure }
  }
}

/// Forwards a caller's requests to the server, and keeps the first ones.
private final class PassedRequests: AsyncSequence, Sendable {
  private let requests: RequestStream<[UInt8]>
  private let kept = Locked<[[UInt8]]>([])

  init(_ requests: RequestStream<[UInt8]>) { self.requests = requests }

  var all: [[UInt8]] { kept.withLock { $0 } }

  /// The first request; empty if there was none.
  var first: [UInt8] { all.first ?? [] }

  func makeAsyncIterator() -> Iterator { Iterator(passed: self, base: requests.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    let passed: PassedRequests
    var base: RequestStream<[UInt8]>.AsyncIterator

    mutating func next() async throws -> [UInt8]? {
      let request = try await base.next(isolation: #isolation)
      if let request {
        passed.kept.withLock { if $0.count < MockRecorder.messageLimit { $0.append(request) } }
      }
      return request
    }
  }
}
