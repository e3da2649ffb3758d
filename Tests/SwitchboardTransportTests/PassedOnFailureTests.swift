import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// What clients learn of calls that handlers make and whose failures they let pass.
@Suite(.timeLimit(.minutes(5))) struct PassedOnFailureTests {
  /// Makes each call to another server, with the same method.
  private struct Front: CallHandlerProvider {
    let backend: Channel
    let options: CallOptions

    var serviceName: String { "test.Test" }

    var methodHandlers: [MethodHandler] {
      [TestService.hang, TestService.fail].map { method in
        method.bytes.unaryHandler { request, _ in
          try await backend.call(method, options: options).unary(request)
        }
      }
    }
  }

  private func with(
    _ backend: Channel,
    _ options: ServerOptions,
    _ callOptions: CallOptions = CallOptions(),
    _ body: (Caller) async throws -> Void
  ) async throws {
    let front = Front(backend: backend, options: callOptions)
    try await withChannel(to: [front], options: options) { channel async throws in
      try await body(Caller(channel: channel))
    }
  }

  private static let fixed = "a call that the server made has failed; its log says why"

  @Test(.mayBlock) func addressesOfUnreachableServersReachTheLogOnly() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let target = try FrameListener().target
    try await withChannel(to: target) { backend async throws in
      try await with(backend, options) { caller async throws in
        let failure = await status { _ = try await caller.get(TestService.hang) }
        #expect(failure == GRPCStatus(code: .unavailable, message: Self.fixed))
      }
      let entry = entries.all.first
      #expect(entries.all.count == 1)
      #expect(entry?.level == .warning)
      #expect(entry?.message == "a call failed because a call that its handler made did")
      #expect(entry?.metadata["error"]?.contains("cannot connect to \(target)") == true)
      #expect(entry?.metadata["method"] == "/test.Test/Hang")
      #expect(entry?.metadata["call"]?.isEmpty == false)
      options.sendsErrorDescriptions = true
      try await with(backend, options) { caller async throws in
        let failure = await status { _ = try await caller.get(TestService.hang) }
        #expect(failure?.message?.contains("cannot connect to \(target)") == true)
      }
      #expect(entries.all.count == 1)
    }
  }

  /// What a peer did, in the words of the channel, and what it said without being asked.
  @Test(.mayBlock) func whatChannelsSayOfPeersReachesTheLogOnly() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let listener = try FrameListener()
    try await withChannel(to: listener.target) { backend async throws in
      try await with(backend, options) { caller async throws in
        let call = Task { await status { _ = try await caller.get(TestService.hang) } }
        let peer = listener.acceptRaw()
        _ = peer.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
        peer.send(PlainGoAway.bytes(.enhanceYourCalm, "ask db-7 instead"))
        #expect(await call.value == GRPCStatus(code: .unavailable, message: Self.fixed))
      }
      #expect(entries.all.first?.metadata["error"]?.contains("ask db-7 instead") == true)
    }
  }

  /// Explains each failure in words of its own.
  private struct Explaining: CallHandlerProvider {
    let backend: Channel

    var serviceName: String { "test.Test" }

    var methodHandlers: [MethodHandler] {
      [
        TestService.hang.bytes.unaryHandler { request, _ in
          do {
            return try await backend.call(TestService.hang).unary(request)
          } catch var status as GRPCStatus {
            status.message = "there is no stock"
            throw status
          }
        }
      ]
    }
  }

  @Test(.mayBlock) func aHandlersOwnWordsPass() async throws {
    try await withChannel(to: try FrameListener().target) { backend async throws in
      try await withChannel(try Channel(inProcess: [Explaining(backend: backend)])) { channel async throws in
        let failure = await status { _ = try await Caller(channel: channel).get(TestService.hang) }
        #expect(failure == GRPCStatus(code: .unavailable, message: "there is no stock"))
      }
    }
  }

  @Test func addressesInDeadlinesReachTheLogOnly() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await TestPair.with { pair async throws in
      let timeout = CallOptions(timeout: .seconds(600))
      try await with(pair.channel, options, timeout) { caller async throws in
        let call = Task { await status { _ = try await caller.get(TestService.hang) } }
        await pair.service.hanging.wait()
        let loop = try #require(pair.channel.eventLoop as? Loop)
        await loop.advance(by: .seconds(601))
        #expect(await call.value == GRPCStatus(code: .deadlineExceeded, message: Self.fixed))
      }
    }
    #expect(entries.all.count == 1)
    let error = entries.all.first?.metadata["error"]
    #expect(error?.contains("while waiting for the response from 127.0.0.1:") == true)
  }

  /// The client would take it for the end of what it has called.
  @Test func theEndOfAChannelReachesTheLogOnly() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    func check(_ backend: Channel) async throws {
      try await with(backend, options) { caller async throws in
        let failure = await status { _ = try await caller.get(TestService.hang) }
        #expect(failure == GRPCStatus(code: .unavailable, message: Self.fixed))
      }
    }
    try await TestPair.with { pair async throws in
      await pair.channel.shutDown()
      try await check(pair.channel)
      let inProcess = try Channel(inProcess: [TestService()])
      await inProcess.shutDown()
      try await check(inProcess)
      // Whoever has the channel is told.
      let own = await status { _ = try await pair.get() }
      #expect(own == GRPCStatus(code: .unavailable, message: "the channel was shut down"))
    }
    #expect(entries.all.count == 2)
    for entry in entries.all {
      #expect(entry.message == "a call failed because a call that its handler made did")
      #expect(entry.metadata["error"] == "unavailable (14): the channel was shut down")
    }
  }

  /// The same of a call that is under way.
  @Test func theEndOfAChannelInACallReachesTheLogOnly() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await TestPair.with { pair async throws in
      try await with(pair.channel, options) { caller async throws in
        let call = Task { await status { _ = try await caller.get(TestService.hang) } }
        await pair.service.hanging.wait()
        await pair.channel.shutDown(grace: .zero)
        #expect(await call.value == GRPCStatus(code: .unavailable, message: Self.fixed))
      }
    }
    #expect(entries.all.first?.metadata["error"] == "unavailable (14): the channel was shut down")
  }

  private struct Unreadable: Error, CustomStringConvertible {
    var description: String { "cannot read /srv/orders" }
  }

  /// Sends another server requests whose sequence throws.
  private struct Uploading: CallHandlerProvider {
    let backend: Channel

    var serviceName: String { "test.Test" }

    var methodHandlers: [MethodHandler] {
      [
        TestService.hang.bytes.unaryHandler { _, _ in
          let requests = AsyncThrowingStream<[UInt8], any Error> { $0.finish(throwing: Unreadable()) }
          return try await backend.call(TestService.collect).clientStreaming(requests)
        }
      ]
    }
  }

  @Test func errorsOfRequestsToOtherServersReachTheLogOnly() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await TestPair.with { pair async throws in
      let uploading = Uploading(backend: pair.channel)
      try await withChannel(to: [uploading], options: options) { channel async throws in
        let failure = await status { _ = try await Caller(channel: channel).get(TestService.hang) }
        #expect(failure == GRPCStatus(code: .cancelled, message: Self.fixed))
      }
    }
    #expect(entries.all.first?.metadata["error"]?.contains("cannot read /srv/orders") == true)
  }

  /// What the other server says is for whoever called it.
  @Test func statusesOfOtherServersPass() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await TestPair.with { pair async throws in
      try await with(pair.channel, options) { caller async throws in
        let failure = await status { _ = try await caller.get(TestService.fail, Array("sold out".utf8)) }
        #expect(failure == GRPCStatus(code: .failedPrecondition, message: "sold out"))
      }
    }
    #expect(entries.all.isEmpty)
  }

  /// The end of the call itself is not that of another call: its handler's error is of no use to anyone.
  @Test func theCallsOwnDeadlineIsNotLogged() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let group = try LoopGroup()
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      let call = pair.channel.call(TestService.collect, options: CallOptions(timeout: .seconds(600)))
        .makeClientStreamingCall()
      try await call.requestStream.send([1])
      let loop = group.loops[0]
      await loop.until {
        loop.openHandles > 0 && pair.server.core.connections.contains { $0.runningHandlers > 0 }
      }
      await loop.advance(by: .seconds(601))
      #expect(await call.status.code == .deadlineExceeded)
      await loop.until { pair.server.core.connections.allSatisfy { $0.runningHandlers == 0 } }
    }
    #expect(entries.all.isEmpty)
  }
}
