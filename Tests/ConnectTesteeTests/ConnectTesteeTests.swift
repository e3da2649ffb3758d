import ConnectConformanceService
import Switchboard
import SwitchboardProtobuf
import Testing

@testable import ConnectTestee

/// Calls of the kinds that Connect's conformance suite makes, by our client under test to our server under test.
@Suite(.timeLimit(.minutes(5))) struct ConnectTesteeTests {
  typealias Request = Connectrpc_Conformance_V1_ClientCompatRequest
  typealias Outcome = Connectrpc_Conformance_V1_ClientResponseResult
  typealias Definition = Connectrpc_Conformance_V1_StreamResponseDefinition

  /// How a call is made.
  struct Way: Sendable, CustomTestStringConvertible {
    var wireProtocol: Connectrpc_Conformance_V1_Protocol
    var version: Connectrpc_Conformance_V1_HTTPVersion
    var codec: Connectrpc_Conformance_V1_Codec
    var compression: Connectrpc_Conformance_V1_Compression

    var testDescription: String { "\(wireProtocol) \(version) \(codec) \(compression)" }
  }

  static let ways: [Way] = [Connectrpc_Conformance_V1_Protocol.connect, .grpc, .grpcWeb].flatMap {
    wireProtocol in
    [Connectrpc_Conformance_V1_HTTPVersion.httpVersion1, .httpVersion2].flatMap { version -> [Way] in
      if wireProtocol == .grpc, version == .httpVersion1 { return [] }
      return [
        (Connectrpc_Conformance_V1_Codec.proto, .gzip), (.json, .identity), (.proto, .zstd), (.json, .br),
      ].map {
        Way(wireProtocol: wireProtocol, version: version, codec: $0, compression: $1)
      }
    }
  }

  private static let head = Connectrpc_Conformance_V1_Header.with {
    $0.name = "x-head"
    $0.value = ["a", "b"]
  }
  private static let trailer = Connectrpc_Conformance_V1_Header.with {
    $0.name = "x-trailer"
    $0.value = ["c"]
  }

  /// Makes a call to a new server.
  private func call(
    _ method: String,
    _ messages: [any SwitchboardProtobuf.Message],
    _ way: Way,
    _ change: (inout Request) -> Void = { _ in }
  ) async throws -> Outcome {
    let (server, place) = try TesteeServer.start(.with { $0.messageReceiveLimit = 100_000 })
    var request = Request()
    request.protocol = way.wireProtocol
    request.httpVersion = way.version
    request.codec = way.codec
    request.compression = way.compression
    request.host = place.host
    request.port = place.port
    request.method = method
    request.requestHeaders = [Self.head]
    request.requestMessages = try messages.map { try Google_Protobuf_Any(message: $0) }
    change(&request)
    let response = await TesteeClient.respond(to: request, on: try LoopGroup())
    await server.shutDown(grace: .zero)
    guard case .response(let outcome)? = response.result else {
      throw GRPCStatus(code: .internalError, message: response.error.message)
    }
    return outcome
  }

  private func values(_ name: String, of headers: [Connectrpc_Conformance_V1_Header]) -> [String] {
    headers.first { $0.name == name }?.value ?? []
  }

  @Test(arguments: ways) func aUnaryCallReturnsItsPayload(_ way: Way) async throws {
    let message = Connectrpc_Conformance_V1_UnaryRequest.with {
      $0.responseDefinition.responseHeaders = [Self.head]
      $0.responseDefinition.responseTrailers = [Self.trailer]
      $0.responseDefinition.responseData = [1, 2, 3]
    }
    let outcome = try await call("Unary", [message], way)
    let payload = try #require(outcome.payloads.first)
    #expect(payload.data == [1, 2, 3])
    #expect(try payload.requestInfo.requests.map { try $0.unpack() } == [message])
    #expect(values("x-head", of: payload.requestInfo.requestHeaders) == ["a", "b"])
    #expect(values("x-head", of: outcome.responseHeaders) == ["a", "b"])
    #expect(values("x-trailer", of: outcome.responseTrailers) == ["c"])
    #expect(!outcome.hasError)
  }

  @Test(arguments: ways) func aFailedUnaryCallHasItsErrorDetails(_ way: Way) async throws {
    let message = Connectrpc_Conformance_V1_UnaryRequest.with {
      $0.responseDefinition.responseTrailers = [Self.trailer]
      $0.responseDefinition.error.code = .resourceExhausted
      $0.responseDefinition.error.message = "oops ✓"
    }
    let outcome = try await call("Unary", [message], way)
    #expect(outcome.error.code == .resourceExhausted)
    #expect(outcome.error.message == "oops ✓")
    let info: Connectrpc_Conformance_V1_ConformancePayload.RequestInfo? = try outcome.error.details.first?
      .unpack()
    #expect(info?.requests.count == 1)
    #expect(values("x-trailer", of: outcome.responseTrailers) == ["c"])
  }

  @Test(arguments: ways) func anEmptyRequestIsSentInTheCompressionThatWasChosen(_ way: Way) async throws {
    let outcome = try await call("Unimplemented", [Connectrpc_Conformance_V1_UnimplementedRequest()], way)
    #expect(outcome.error.code == .unimplemented)
  }

  @Test(arguments: ways, [true, false])
  func methodsWithoutSideEffectsMayUseGet(_ way: Way, _ byGet: Bool) async throws {
    let message = Connectrpc_Conformance_V1_IdempotentUnaryRequest.with {
      $0.responseDefinition.responseData = [1]
    }
    let outcome = try await call("IdempotentUnary", [message], way) { $0.useGetHTTPMethod = byGet }
    #expect(outcome.payloads.first?.data == [1])
  }

  @Test(arguments: ways) func aFailedStreamKeepsItsResponses(_ way: Way) async throws {
    let message = Connectrpc_Conformance_V1_ServerStreamRequest.with {
      $0.responseDefinition = Self.definition
      $0.responseDefinition.error.code = .aborted
    }
    let outcome = try await call("ServerStream", [message], way)
    #expect(outcome.payloads.map(\.data) == [[1], [2]])
    #expect(outcome.error.code == .aborted)
    #expect(values("x-head", of: outcome.responseHeaders) == ["a", "b"])
    #expect(values("x-trailer", of: outcome.responseTrailers) == ["c"])
  }

  @Test(arguments: ways) func streamedRequestsArriveInOrder(_ way: Way) async throws {
    let messages = (0..<3).map { index in
      Connectrpc_Conformance_V1_ClientStreamRequest.with {
        $0.requestData = [UInt8](repeating: 7, count: index * 1000)
        if index == 0 { $0.responseDefinition.responseData = [4] }
      }
    }
    let outcome = try await call("ClientStream", messages, way)
    #expect(outcome.payloads.first?.data == [4])
    #expect(try outcome.payloads.first?.requestInfo.requests.map { try $0.unpack() } == messages)
    #expect(outcome.numUnsentRequests == 0)
  }

  @Test(arguments: ways, [true, false]) func bothSidesStream(_ way: Way, _ isFullDuplex: Bool) async throws {
    if isFullDuplex, way.version == .httpVersion1 { return }
    let messages = (0..<2).map { index in
      Connectrpc_Conformance_V1_BidiStreamRequest.with {
        $0.fullDuplex = isFullDuplex
        $0.requestData = [UInt8(index)]
        if index == 0 { $0.responseDefinition = Self.definition }
      }
    }
    let outcome = try await call("BidiStream", messages, way) {
      $0.streamType = isFullDuplex ? .fullDuplexBidiStream : .halfDuplexBidiStream
    }
    #expect(outcome.payloads.map(\.data) == [[1], [2]])
    #expect(outcome.payloads.map(\.requestInfo.requests.count) == (isFullDuplex ? [1, 1] : [2, 0]))
    #expect(!outcome.hasError)
  }

  @Test(arguments: ways) func aRequestAboveTheLimitIsRefused(_ way: Way) async throws {
    let message = Connectrpc_Conformance_V1_UnaryRequest.with {
      $0.requestData = [UInt8](repeating: 7, count: 200_000)
    }
    let outcome = try await call("Unary", [message], way)
    #expect(outcome.error.code == .resourceExhausted)
  }

  private static var definition: Definition {
    .with {
      $0.responseHeaders = [head]
      $0.responseTrailers = [trailer]
      $0.responseData = [[1], [2]]
    }
  }
}
