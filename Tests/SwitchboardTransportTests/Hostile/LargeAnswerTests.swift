import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Metadata and statuses that exceed the limit of the peer or of HTTP/2: the error is reported, and the call ends.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LargeAnswerTests {
  private typealias Kind = FramePeer.Kind

  private static let megabyte = 1_200_000

  /// The number of bytes of each part that a method of `Verbose` sends.
  private struct Verbose: CallHandlerProvider {
    var serviceName: String { "test.Verbose" }

    var methodHandlers: [MethodHandler] {
      func method(_ name: String, _ type: GRPCCallType = .unary) -> MethodDescriptor {
        MethodDescriptor(service: serviceName, method: name, type: type)
      }
      @Sendable func long(_ request: [UInt8]) -> String {
        String(repeating: "x", count: Int(String(decoding: request, as: UTF8.self)) ?? 0)
      }
      return [
        method("Metadata").bytes.unaryHandler { request, context in
          context.setInitialMetadata(["large": long(request)])
          return [1]
        },
        method("Stream", .serverStreaming).bytes.serverStreamingHandler { request, responses, context in
          context.setInitialMetadata(["large": long(request)])
          while true { try await responses.send([1]) }
        },
        method("Trailers").bytes.unaryHandler { request, context in
          context.setTrailers(["large": long(request)])
          return [1]
        },
        method("Message").bytes.unaryHandler { request, context in
          context.setTrailers(["why": "asked to"])
          throw GRPCStatus(code: .failedPrecondition, message: "é" + long(request))
        },
        method("Details").bytes.unaryHandler { request, context in
          context.setTrailers(["why": "asked to"])
          var status = GRPCStatus(code: .failedPrecondition, message: "short")
          status.packedDetails = Array(long(request).utf8)
          throw status
        },
        method("All").bytes.unaryHandler { request, context in
          context.setTrailers(["large": long(request)])
          var status = GRPCStatus(code: .failedPrecondition, message: long(request))
          status.packedDetails = Array(long(request).utf8)
          throw status
        },
      ]
    }
  }

  /// The response of a server to a call of `Verbose` when the client accepts blocks of this size.
  private func answer(
    _ method: String,
    _ size: Int,
    limit: Int?
  ) async throws -> (fields: [String: String], size: Int) {
    try await withServer([Verbose()]) { server, address async throws in
      let peer = try FramePeer(address)
      if let limit { peer.send(Kind.settings, 0, 0, [0, 6] + FramePeer.number(UInt32(limit))) }
      let message = Array("\(size)".utf8)
      peer.headers(1, FramePeer.request("/test.Verbose/\(method)"))
      peer.data(1, [0] + FramePeer.number(UInt32(message.count)) + message, ends: true)
      var answer: (fields: [String: String], ends: Bool) = ([:], false)
      while !answer.ends, let next = peer.nextHeaders() { answer = next }
      await server.untilNoCallIsOpen()
      return (answer.fields, answer.fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 32 })
    }
  }

  @Test(arguments: [(megabyte, nil), (9000, 8192), (3000, 1000)] as [(Int, Int?)])
  func aLongMessageOfAStatusIsCutShort(_ sample: (size: Int, limit: Int?)) async throws {
    let answer = try await answer("Message", sample.size, limit: sample.limit)
    #expect(answer.fields["grpc-status"] == "9")
    #expect(answer.fields["why"] == "asked to")
    let message = try #require(answer.fields["grpc-message"])
    #expect(message.hasPrefix("%C3%A9xxx"))
    #expect(message.hasSuffix("xxx..."))
    #expect(answer.size <= sample.limit ?? 16 * 1024)
  }

  @Test(arguments: [(megabyte, nil), (9000, 8192)] as [(Int, Int?)])
  func detailsThatDoNotFitAreLeftOut(_ sample: (size: Int, limit: Int?)) async throws {
    let answer = try await answer("Details", sample.size, limit: sample.limit)
    #expect(answer.fields["grpc-status"] == "9")
    #expect(answer.fields["grpc-message"] == "short")
    #expect(answer.fields["why"] == "asked to")
    #expect(answer.fields["grpc-status-details-bin"] == nil)
  }

  @Test func anOversizedFailureKeepsItsCode() async throws {
    let answer = try await answer("All", Self.megabyte, limit: nil)
    #expect(answer.fields["grpc-status"] == "9")
    #expect(answer.fields["large"] == nil)
    #expect(answer.size <= 16 * 1024)
  }

  @Test(arguments: ["Metadata", "Stream", "Trailers"], [(megabyte, nil), (9000, 8192)] as [(Int, Int?)])
  func metadataThatDoesNotFitFailsTheCall(_ method: String, _ sample: (size: Int, limit: Int?)) async throws {
    let answer = try await answer(method, sample.size, limit: sample.limit)
    #expect(answer.fields["grpc-status"] == "8")
    #expect(answer.fields["grpc-message"]?.contains("large") == true)
    #expect(answer.fields["grpc-message"]?.contains("\(sample.size)") == true)
    #expect(answer.fields["large"] == nil)
  }

  /// A block within the limit is sent whole, however close it is.
  @Test func trailersThatFitAreSentWhole() async throws {
    let answer = try await answer("Trailers", 8000, limit: 8192)
    #expect(answer.fields["grpc-status"] == "0")
    #expect(answer.fields["large"]?.count == 8000)
  }

  // MARK: Requests

  @Test(arguments: [(megabyte, nil), (9000, 8192)] as [(Int, Int?)])
  func metadataThatTheServerDoesNotAcceptFailsTheCall(_ sample: (size: Int, limit: Int?)) async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target, options: ChannelOptions()) { channel async throws in
      let options = CallOptions(
        timeout: .seconds(300),
        initialMetadata: ["x-large": String(repeating: "x", count: sample.size)]
      )
      let call = Task(executorPreference: channel.eventLoop) {
        try await Caller(channel: channel).get(options: options)
      }
      let raw = listener.acceptRaw()
      _ = raw.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
      let settings = sample.limit.map { [0, 6] + FramePeer.number(UInt32($0)) } ?? []
      raw.send(FramePeer.frame(Kind.settings, 0, 0, settings))
      let failure = await status { _ = try await call.value }
      #expect(failure?.code == .resourceExhausted)
      #expect(failure?.message?.contains("x-large") == true)
      #expect(failure?.message?.contains("\(sample.size)") == true)
      // The connection still works.
      let next = Task(executorPreference: channel.eventLoop) { try await Caller(channel: channel).get() }
      while true {
        let head = raw.read(9)
        try #require(head.count == 9)
        _ = raw.read(Int(head[1]) << 8 | Int(head[2]))
        if head[3] == Kind.headers { break }
      }
      raw.send(
        FramePeer.frame(
          Kind.headers,
          5,
          1,
          FramePeer.block([
            (":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "5"),
          ])
        )
      )
      #expect(await status { _ = try await next.value }?.code == .notFound)
    }
  }
}
