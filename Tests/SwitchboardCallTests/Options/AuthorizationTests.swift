import SwitchboardCall
import Testing

/// Tokens from the options and from providers.
@Suite(.timeLimit(.minutes(5))) struct AuthorizationTests {
  struct Provider: AuthTokenProvider {
    var give: @Sendable () async throws -> String?
    func token() async throws -> String? { try await give() }
  }

  private func authorization(_ call: ScriptedCall) -> [String] {
    call.request.options?.initialMetadata["authorization"] ?? []
  }

  @Test func aTokenIsSent() async throws {
    let script = ScriptedChannel()
    var options = CallOptions(initialMetadata: ["authorization": "old", "other": "kept"])
    options.oauth2AccessToken = "secret"
    let call = script.unary(options: options)
    let made = try await script.transport.next()
    #expect(authorization(made) == ["Bearer secret"])
    #expect(made.request.options?.initialMetadata.first(name: "other") == "kept")
    made.answer([1])
    #expect(try await call.response == [1])
  }

  @Test func theTokenIsFetchedBeforeTheCallStarts() async throws {
    let script = ScriptedChannel()
    let gate = OneShot<String?>()
    var options = CallOptions(timeout: .seconds(10))
    options.oauth2AccessToken = "not this one"
    options.authTokenProvider = Provider { try await gate.value() }
    let call = script.unary(options: options)
    // The time that the token takes counts towards the deadline.
    #expect(await script.time.nextWait() == .seconds(10))
    script.time.advance(by: .seconds(4))
    gate.settle(.success("fresh"))
    let made = try await script.transport.next()
    #expect(authorization(made) == ["Bearer fresh"])
    #expect(made.request.deadline?.time == script.time.now + .seconds(6))
    made.answer([1])
    #expect(try await call.response == [1])
  }

  @Test func withoutATokenNoHeaderIsSent() async throws {
    let script = ScriptedChannel()
    let call = script.unary(options: .with { $0.authTokenProvider = Provider { nil } })
    let made = try await script.transport.next()
    #expect(authorization(made) == [])
    made.answer([1])
    #expect(try await call.response == [1])
  }

  private final class Messages: LogHandler {
    let all = Locked<[String]>([])
    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      all.withLock { $0.append(message) }
    }
  }

  /// The provider takes the place of the options' own token.
  @Test func aTokenThatIsNotSentIsLoggedOnce() async throws {
    let messages = Messages()
    let transport = ScriptedTransport()
    let channel = Channel(transport, logger: Logger(messages))
    for _ in 0..<2 {
      let options = CallOptions.with {
        $0.oauth2AccessToken = "secret"
        $0.authTokenProvider = Provider { nil }
      }
      let method = Method(
        MethodDescriptor(path: "/a.B/C", type: .unary),
        requests: BytesMarshaller(),
        responses: BytesMarshaller()
      )
      async let response = MethodCall(method, on: channel, options: options).unary([1])
      let made = try await transport.next()
      #expect(authorization(made) == [])
      made.answer([1])
      #expect(try await response == [1])
    }
    #expect(messages.all.withLock { $0.count } == 1)
    #expect(
      messages.all.withLock { $0.first?.hasPrefix("CallOptions.oauth2AccessToken is not sent") } == true
    )
  }

  struct Broken: Error {}

  @Test func aFailingProviderEndsTheCall() async throws {
    let script = ScriptedChannel()
    let first = script.unary(options: .with { $0.authTokenProvider = Provider { throw Broken() } })
    #expect(await first.status.code == .unauthenticated)
    let status = GRPCStatus(code: .permissionDenied)
    let second = script.unary(options: .with { $0.authTokenProvider = Provider { throw status } })
    #expect(await second.status.code == .permissionDenied)
    let third = script.update(options: .with { $0.authTokenProvider = Provider { throw Broken() } })
    #expect(await third.status.code == .unauthenticated)
    await #expect(throws: GRPCStatus.self) { try await third.requestStream.send([1]) }
  }

  @Test func theDeadlinePassesWhileTheTokenIsFetched() async throws {
    let script = ScriptedChannel()
    let cancelled = OneShot<Bool>()
    let never = OneShot<String?>()
    var options = CallOptions(timeout: .seconds(1))
    options.authTokenProvider = Provider {
      do {
        return try await never.value()
      } catch {
        cancelled.settle(.success(true))
        throw error
      }
    }
    let call = script.unary(options: options)
    _ = try await script.passNextWait()
    #expect(await call.status.code == .deadlineExceeded)
    #expect(try await cancelled.value())
  }

  @Test func cancellingEndsTheCallWhileTheTokenIsFetched() async throws {
    let script = ScriptedChannel()
    let never = OneShot<String?>()
    let asked = OneShot<Bool>()
    let call = script.unary(
      options: .with {
        $0.authTokenProvider = Provider {
          asked.settle(.success(true))
          return try await never.value()
        }
      }
    )
    _ = try await asked.value()
    call.cancel()
    #expect(await call.status.code == .cancelled)
  }

  /// Counts what it gives.
  private func counting() -> CallOptions {
    let count = Locked(0)
    return .with {
      $0.authTokenProvider = Provider {
        count.withLock { count in
          count += 1
          return "\(count)"
        }
      }
    }
  }

  /// A token may have expired, or been refused, since the attempt before.
  @Test func eachAttemptHasATokenOfItsOwn() async throws {
    let script = ScriptedChannel(try .retrying(3, [.unauthenticated]))
    let call = script.unary(options: counting())
    let first = try await script.transport.next()
    first.end(.unauthenticated)
    _ = try await script.passNextWait()
    let second = try await script.transport.next()
    #expect(authorization(first) == ["Bearer 1"])
    #expect(authorization(second) == ["Bearer 2"])
    #expect(second.request.previousAttempts == 1)
    second.answer([1])
    #expect(try await call.response == [1])
  }

  @Test func eachHedgedAttemptHasATokenOfItsOwn() async throws {
    let script = ScriptedChannel(try .hedging(2))
    let call = script.update(options: counting())
    try await call.requestStream.send([7])
    let first = try await script.transport.next()
    _ = try await script.passNextWait()
    let second = try await script.transport.next()
    #expect(authorization(first) == ["Bearer 1"] && authorization(second) == ["Bearer 2"])
    #expect(try await first.nextRequest() == [7])
    #expect(try await second.nextRequest() == [7])
    second.sendHeaders()
    #expect(try await first.cancellation().code == .cancelled)
    second.end()
    #expect(await call.status.code == .ok)
  }

  /// The provider fails, and no policy retries what the program itself has said.
  @Test func aTokenThatFailsEndsARetriedCall() async throws {
    let script = ScriptedChannel(try .retrying())
    let asked = Locked(0)
    let call = script.unary(
      options: .with {
        $0.authTokenProvider = Provider {
          asked.withLock { $0 += 1 }
          throw GRPCStatus(code: .unavailable)
        }
      }
    )
    #expect(await call.status.code == .unavailable)
    #expect(asked.withLock { $0 } == 1)
  }
}
