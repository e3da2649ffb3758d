import EchoService
import Switchboard
import Testing

/// The order that the tutorial describes, on both sides.
@Suite(.timeLimit(.minutes(5))) struct OrderTests {
  @Test func theClientsFirstIsFirstOutAndLastIn() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client { [ClientRecorder("1", log), ClientRecorder("2", log)] }
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
    #expect(
      log.lines == [
        "1 > metadata", "2 > metadata", "1 > x", "2 > x", "1 > end", "2 > end",
        "2 < metadata", "1 < metadata", "2 < Swift echo get: x", "1 < Swift echo get: x",
        "2 < ok (0)", "1 < ok (0)",
      ]
    )
  }

  @Test func theServersFirstIsFirstInAndLastOut() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [ServerRecorder("1", log), ServerRecorder("2", log)]
    }
    try await EchoPair.with(server: make) { pair async throws in
      #expect(try await pair.client().get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
    #expect(
      log.lines == [
        "1 > metadata", "2 > metadata", "1 > x", "2 > x", "1 > end", "2 > end",
        "2 < metadata", "1 < metadata", "2 < Swift echo get: x", "1 < Swift echo get: x",
        "2 < ok (0)", "1 < ok (0)",
      ]
    )
  }

  @Test func streamedPartsPassInOrder() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerRecorder("s", log)] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client { [ClientRecorder("c", log)] }
      let words = (0..<200).map { String($0) }
      let requests = words.map { Echo_EchoRequest($0) }
      #expect(try await client.update(requests).collected().map(\.text) == words)
      #expect(try await client.collect(requests).text == words.joined())
      #expect(try await client.expand(Echo_EchoRequest("a b c")).collected().map(\.text) == ["a", "b", "c"])
    }
    #expect(log.lines.filter { $0.hasPrefix("c < ok") }.count == 3)
    #expect(log.lines.filter { $0.hasPrefix("s < ok") }.count == 3)
    #expect(log.lines.filter { $0.hasPrefix("s > ") && $0.hasSuffix("end") }.count == 3)
  }

  @Test func factoriesAreCalledOncePerCall() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        log.note("made")
        return []
      }
      for _ in 0..<3 { _ = try await client.get(Echo_EchoRequest("x")) }
    }
    #expect(log.lines == ["made", "made", "made"])
  }

  @Test func contextsDescribeTheirCall() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(receive: { part, context in
          if case .metadata(let headers) = part {
            let isLocal = context.remoteAddress.hasPrefix("ipv4:127.0.0.1:")
            log.note("\(context.path) \(context.type) \(isLocal) \(context.eventLoop.inEventLoop)")
            log.note(headers.first(name: "added") ?? "nothing")
          }
          context.receive(part)
        })
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client {
        [
          ClientHook(send: { part, promise, context in
            guard case .metadata(var headers) = part else { return context.send(part, promise: promise) }
            log.note("\(context.path) \(context.type) \(context.eventLoop.inEventLoop)")
            headers.add(name: "added", value: "by the client")
            context.send(.metadata(headers), promise: promise)
          })
        ]
      }
      _ = try await client.get(Echo_EchoRequest("x"))
    }
    #expect(
      log.lines == ["/echo.Echo/Get unary true", "/echo.Echo/Get unary true true", "by the client"]
    )
  }
}
