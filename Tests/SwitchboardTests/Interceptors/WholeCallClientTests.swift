import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardInterceptors
import Testing

/// Interceptors that see whole calls on the client.
@Suite(.timeLimit(.minutes(5))) struct WholeCallClientTests {
  /// It has the state of its call, so another call must not use it.
  @Test func anInstanceServesOneCall() async throws {
    nonisolated(unsafe) let interceptors: [EchoClientInterceptor] = [ClientCallHook()]
    let make: @Sendable () -> [EchoClientInterceptor] = { interceptors }
    try await EchoPair.with { pair async throws in
      try await pair.client(make).expectOneCall()
    }
  }

  @Test func aUnaryCallCanBeChangedInBothDirections() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientCallHook(unary: { request, _, next in
            var request = request
            request.message.text += " 1"
            var response = try await next(request)
            response.message.text += " 2"
            response.metadata.add(name: "added", value: "here")
            response.trailers.add(name: "last", value: "word")
            return response
          })
        ]
      }
      let call = client.makeGetCall(Echo_EchoRequest("x"))
      #expect(try await call.response.text == "Swift echo get: x 1 2")
      #expect(try await call.initialMetadata["added"] == ["here"])
      #expect(try await call.trailingMetadata["last"] == ["word"])
    }
  }

  @Test func wholeCallInterceptorsKeepTheirOrderAmongOthers() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientRecorder("1", log),
          ClientCallHook(unary: { request, _, next in
            log.note("2 > \(request.message.text)")
            let response = try await next(request)
            log.note("2 < \(response.message.text)")
            return response
          }),
          ClientRecorder("3", log),
        ]
      }
      _ = try await client.get(Echo_EchoRequest("x"))
    }
    #expect(
      log.lines == [
        "1 > metadata", "1 > x", "1 > end", "2 > x", "3 > metadata", "3 > x", "3 > end",
        "3 < metadata", "3 < Swift echo get: x", "3 < ok (0)", "2 < Swift echo get: x",
        "1 < metadata", "1 < Swift echo get: x", "1 < ok (0)",
      ]
    )
  }

  @Test func nextCanBeCalledAgain() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [Bouncer()] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client {
        [
          ClientCallHook(unary: { request, _, next in
            do {
              return try await next(request)
            } catch let status as GRPCStatus where status.code == .unauthenticated {
              var request = request
              request.metadata.add(name: "again", value: "yes")
              return try await next(request)
            }
          }),
          ClientRecorder("below", log),
        ]
      }
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
    #expect(log.lines.filter { $0 == "below > metadata" }.count == 2)
    #expect(log.lines.filter { $0 == "below < unauthenticated (16)" }.count == 1)
  }

  @Test func anInterceptorCanAnswerOrFailWithoutAServer() async throws {
    try await withChannel(to: "127.0.0.1:1") { channel async throws in
      let factory = ClientFactory {
        [
          ClientCallHook(
            unary: { request, _, _ in
              if request.message.text == "no" { throw GRPCStatus(code: .outOfRange, message: "no") }
              return UnaryResponse(message: .with { $0.text = "canned" })
            },
            streamed: { _, _, _ in
              StreamedResponse(
                messages: MessageStream(of: ["a", "b"].map { text in .with { $0.text = text } })
              )
            }
          )
        ]
      }
      let client = Echo_EchoClient(channel: channel, interceptors: factory)
      #expect(try await client.get(Echo_EchoRequest("x")).text == "canned")
      #expect(await status { _ = try await client.get(Echo_EchoRequest("no")) }?.code == .outOfRange)
      #expect(try await client.expand(Echo_EchoRequest("x")).collected().map(\.text) == ["a", "b"])
      #expect(try await client.update([Echo_EchoRequest("x")]).collected().map(\.text) == ["a", "b"])
    }
  }

  @Test func rethrowingAFailureKeepsItsTrailers() async throws {
    try await EchoPair.with(failing: true) { pair async throws in
      let client = pair.client { [ClientCallHook(), ClientCallHook()] }
      let call = client.makeGetCall(Echo_EchoRequest("x"))
      #expect(await call.status == GRPCStatus(code: .notFound, message: "no x"))
      #expect(try await call.trailingMetadata["why"] == ["asked to"])
    }
  }

  @Test func streamsCanBeChanged() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientCallHook(),
          ClientCallHook(streamed: { request, _, next in
            var request = request
            request.messages = MessageStream(
              request.messages.map { message in .with { $0.text = message.text + "!" } }
            )
            var response = try await next(request)
            response.messages = MessageStream(
              response.messages.map { message in .with { $0.text = "<" + message.text } }
            )
            return response
          }),
        ]
      }
      let words = (0..<100).map { String($0) }
      let requests = words.map { Echo_EchoRequest($0) }
      #expect(try await client.update(requests).collected().map(\.text) == words.map { "<\($0)!" })
      #expect(try await client.collect(requests).text == "<" + words.map { $0 + "!" }.joined())
      #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["<a", "<b!"])
      let call = client.makeUpdateCall()
      try await call.requestStream.send(Echo_EchoRequest("one"))
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next()?.text == "<one!")
      call.requestStream.finish()
      #expect(try await responses.next() == nil)
      #expect(await call.status.isOk)
    }
  }

  @Test func aStreamOfResponsesCanBeRequestedAgain() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = { [Bouncer()] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client {
        [
          ClientCallHook(streamed: { request, _, next in
            let messages = try await request.messages.collected()
            do {
              return try await next(StreamedRequest(messages: MessageStream(of: messages)))
            } catch let status as GRPCStatus where status.code == .unauthenticated {
              return try await next(
                StreamedRequest(metadata: ["again": "yes"], messages: MessageStream(of: messages))
              )
            }
          })
        ]
      }
      #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["a", "b"])
    }
  }

  /// They have to be stored.
  @Test(arguments: [Wire.ipv4, .inProcess])
  func requestsThatWereSentCannotBeSentAgain(_ wire: Wire) async throws {
    let provider = TutorialProvider(
      interceptors: ServerFactory {
        [
          ServerCallHook(streamed: { request, _, _ in
            for try await _ in request.messages {}
            throw GRPCStatus(code: .unavailable)
          })
        ]
      }
    )
    try await withChannel(to: [provider], over: wire) { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        interceptors: ClientFactory {
          [
            ClientCallHook(streamed: { request, _, next in
              do { return try await next(request) } catch { return try await next(request) }
            })
          ]
        }
      )
      let requests = [Echo_EchoRequest("x")]
      for failure in [
        await status { _ = try await client.expand(requests[0]).collected() },
        await status { _ = try await client.collect(requests) },
        await status { _ = try await client.update(requests).collected() },
      ] {
        #expect(failure?.code == .failedPrecondition)
        #expect(failure?.message?.contains("was read a second time") == true)
      }
    }
  }

  @Test func callsOfEveryKindCanBeSentAgain() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = { [Bouncer()] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client {
        [
          ClientCallHook(
            unary: { request, _, next in
              guard (try? await next(request)) == nil else { throw GRPCStatus(code: .internalError) }
              return try await next(UnaryRequest(metadata: ["again": "yes"], message: request.message))
            },
            streamed: { request, _, next in
              let messages = try await request.messages.collected()
              let first = StreamedRequest(messages: MessageStream(of: messages))
              guard (try? await next(first)) == nil else { throw GRPCStatus(code: .internalError) }
              return try await next(
                StreamedRequest(metadata: ["again": "yes"], messages: MessageStream(of: messages))
              )
            }
          )
        ]
      }
      let requests = ["a", "b"].map { Echo_EchoRequest($0) }
      for _ in 0..<10 {
        #expect(try await client.get(Echo_EchoRequest("a")).text == "Swift echo get: a")
        #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["a", "b"])
        #expect(try await client.collect(requests).text == "ab")
        #expect(try await client.update(requests).collected().map(\.text) == ["a", "b"])
      }
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess])
  func anAbandonedAttemptCanBeFollowedByAnother(_ wire: Wire) async throws {
    let log = Log()
    // Never answers the first call.
    let provider = TutorialProvider(
      interceptors: ServerFactory {
        [
          ServerHook(receive: { part, context in
            if case .metadata(let headers) = part { log.note("attempt \(headers["again"])") }
            if log.lines.count > 1 { context.receive(part) }
          })
        ]
      }
    )
    try await withChannel(to: [provider], over: wire) { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        interceptors: ClientFactory {
          [
            ClientCallHook(unary: { request, _, next in
              do {
                // Cancelled at the end of the scope.
                async let _ = next(request)
                _ = try await log.lines(atLeast: 1)
              }
              return try await next(UnaryRequest(metadata: ["again": "yes"], message: request.message))
            })
          ]
        }
      )
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
    #expect(log.lines == ["attempt []", #"attempt ["yes"]"#])
  }

  @Test func twoConcurrentCallsOfNextFail() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientCallHook(unary: { request, _, next in
            async let first = next(request)
            async let second = next(request)
            _ = try await (first, second)
            return try await next(request)
          })
        ]
      }
      let failure = await status { _ = try await client.get(Echo_EchoRequest("x")) }
      #expect(failure?.code == .failedPrecondition)
    }
  }

  @Test func cancellingReachesTheInterceptorAndTheServer() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerRecorder("s", log)] }
    try await EchoPair.with(server: make, failing: true) { pair async throws in
      let client = pair.client {
        [
          ClientCallHook(streamed: { request, _, next in
            do {
              let response = try await next(request)
              log.note("answered")
              return response
            } catch {
              log.note("failed \(GRPCStatus(describing: error).code) \(Task.isCancelled)")
              throw error
            }
          })
        ]
      }
      let task = Task {
        try await client.collect(AsyncStream<Echo_EchoRequest> { $0.yield(Echo_EchoRequest("x")) })
      }
      _ = try await log.lines(atLeast: 2)
      task.cancel()
      #expect(await status { _ = try await task.value }?.code == .cancelled)
      let lines = try await log.lines(atLeast: 5)
      #expect(lines.contains("failed cancelled (1) true"))
      #expect(lines.contains("s > error cancelled (1)"))
    }
  }

  @Test func theDeadlineEndsWhatTheInterceptorAwaits() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client(timeout: .milliseconds(30)) {
        [
          ClientCallHook(unary: { request, _, next in
            do { try await Task.sleep(for: .seconds(3600)) } catch { log.note("woken") }
            return try await next(request)
          })
        ]
      }
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded)
      _ = try await log.lines(atLeast: 1)
    }
    #expect(log.lines == ["woken"])
  }
}
