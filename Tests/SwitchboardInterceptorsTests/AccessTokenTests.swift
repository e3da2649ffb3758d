import CallTestSupport
import EchoService
import Switchboard
import SwitchboardInterceptors
import Testing

@Suite(.timeLimit(.minutes(5))) struct AccessTokenTests {
  @Test func allCallsShareATokenObtainedOnce() async throws {
    let issuer = Issuer()
    let provider = TestProvider()
    provider.token = "token 1"
    let tokens = AccessTokens { try await issuer.issue() }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      #expect(try await client.get(request("x")).text == "x")
      #expect(try await client.collect([request("x"), request("y")]).text == "xy")
      var words: [String] = []
      for try await response in client.expand(request("a b")) { words.append(response.text) }
      for try await response in client.update([request("c")]) { words.append(response.text) }
      #expect(words == ["a", "b", "c"])
    }
    #expect(issuer.count == 1)
  }

  private struct Other: AuthTokenProvider {
    func token() async throws -> String? { "other" }
  }

  /// The token of a call's options would replace another anyway, which need not be obtained, nor be renewed.
  @Test func aCallKeepsATokenOfItsOwn() async throws {
    let issuer = Issuer()
    let provider = TestProvider()
    provider.token = "other"
    let tokens = AccessTokens { try await issuer.issue() }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      let fixed = CallOptions.with { $0.oauth2AccessToken = "other" }
      let provided = CallOptions.with { $0.authTokenProvider = Other() }
      let own = CallOptions(initialMetadata: ["authorization": "Bearer other"])
      for options in [fixed, provided, own] {
        #expect(try await client.get(request("x"), callOptions: options).text == "x")
        #expect(try await client.collect([request("x")], callOptions: options).text == "x")
      }
      provider.token = "another"
      let calls = provider.calls
      #expect(
        await status { _ = try await client.get(request("x"), callOptions: fixed) }?.code == .unauthenticated
      )
      #expect(provider.calls == calls + 1)
    }
    #expect(issuer.count == 0)
  }

  @Test func aTokenWithItsSchemeIsNotSent() async throws {
    let provider = TestProvider()
    let tokens = AccessTokens { AccessToken("Bearer token 1") }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      #expect(await status { _ = try await client.get(request("x")) }?.code == .invalidArgument)
    }
    #expect(provider.calls == 0)
  }

  @Test func aRefusedTokenIsReplacedAndTheCallRetried() async throws {
    let issuer = Issuer()
    let provider = TestProvider()
    provider.token = "token 1"
    let tokens = AccessTokens { try await issuer.issue() }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      _ = try await client.get(request("x"))
      provider.token = "token 2"
      #expect(try await client.get(request("y")).text == "y")
      #expect(provider.calls == 3)
      provider.token = "token 3"
      var words: [String] = []
      for try await response in client.expand(request("a b")) { words.append(response.text) }
      #expect(words == ["a", "b"])
      #expect(provider.calls == 5)
      provider.token = "another"
      #expect(await status { _ = try await client.get(request("z")) }?.code == .unauthenticated)
      #expect(provider.calls == 7)
    }
  }

  @Test func aRefusedStreamIsNotResentButTheNextCallHasANewToken() async throws {
    let issuer = Issuer()
    let provider = TestProvider()
    provider.token = "token 2"
    let tokens = AccessTokens { try await issuer.issue() }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      #expect(await status { _ = try await client.collect([request("x")]) }?.code == .unauthenticated)
      #expect(try await client.collect([request("x")]).text == "x")
    }
    #expect(provider.calls == 2)
  }

  @Test func manyCallsObtainOneToken() async throws {
    let issuer = Issuer(isHeld: true)
    let provider = TestProvider()
    provider.token = "token 1"
    let tokens = AccessTokens { try await issuer.issue() }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask { _ = try await client.get(request("x")) }
        }
        issuer.release()
        try await group.waitForAll()
      }
    }
    #expect(issuer.count == 1)
    #expect(provider.calls == 20)
  }

  @Test func aTokenIsReplacedBeforeItExpires() async throws {
    let issuer = Issuer()
    let clock = TestClock()
    let tokens = AccessTokens(margin: .seconds(10), now: clock.now) {
      AccessToken(try await issuer.issue().value, lifetime: .seconds(60))
    }
    #expect(try await tokens.token().value == "token 1")
    clock.advance(by: .seconds(49))
    #expect(try await tokens.token().value == "token 1")
    clock.advance(by: .seconds(1))
    #expect(try await tokens.token().value == "token 2")
  }

  @Test(arguments: [0, -5]) func aTokenWithoutALifetimeIsNotSent(_ seconds: Int) async throws {
    let provider = TestProvider()
    let tokens = AccessTokens { AccessToken("secret", lifetime: .seconds(seconds)) }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      let failure = await status { _ = try await client.get(request("x")) }
      #expect(failure?.code == .unauthenticated)
      #expect(
        failure?.message?.contains("has expired: for one that stays valid, leave the lifetime out") == true
      )
    }
    #expect(provider.calls == 0)
  }

  @Test func rejectingAReplacedTokenHasNoEffect() async throws {
    let issuer = Issuer()
    let tokens = AccessTokens { try await issuer.issue() }
    let first = try await tokens.token()
    tokens.refuse(first)
    #expect(try await tokens.token().value == "token 2")
    tokens.refuse(first)
    #expect(try await tokens.token().value == "token 2")
  }

  /// A server that rejects every token is asked once for each call, and tokens are obtained ever more seldom.
  @Test func aServerThatRejectsEveryTokenGetsNoMoreCalls() async throws {
    let issuer = Issuer()
    let clock = TestClock()
    let provider = TestProvider()
    provider.token = "none of them"
    let tokens = AccessTokens(now: clock.now) { try await issuer.issue() }
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      func calls(_ count: Int) async -> (sent: Int, obtained: Int) {
        let before = (provider.calls, issuer.count)
        for _ in 0..<count {
          #expect(await status { _ = try await client.get(request("x")) }?.code == .unauthenticated)
        }
        return (provider.calls - before.0, issuer.count - before.1)
      }
      #expect(await calls(100) == (101, 2))
      for pause in [1, 2, 4, 8, 16, 32, 64, 120, 120] {
        clock.advance(by: .seconds(pause) - .milliseconds(1))
        #expect(await calls(10) == (10, 0))
        clock.advance(by: .milliseconds(1))
        #expect(await calls(10) == (11, 1))
      }
      // As soon as a new token helps, the next one is replaced at once again.
      clock.advance(by: .seconds(120))
      provider.token = "token \(issuer.count + 1)"
      #expect(try await client.get(request("x")).text == "x")
      provider.token = "token \(issuer.count + 1)"
      #expect(try await client.get(request("x")).text == "x")
    }
  }

  /// A method that its caller may not use is no reason to replace the token of the others.
  @Test func aTokenThatOthersAcceptIsReplacedSeldom() async throws {
    let clock = TestClock()
    let issuer = Issuer()
    let tokens = AccessTokens(now: clock.now) { try await issuer.issue() }
    let accepting = TestProvider()
    let rejecting = TestProvider()
    rejecting.token = "none of them"
    try await withEcho(rejecting, client: [AccessTokenInterceptors(tokens)]) { rejected async throws in
      try await withEcho(accepting, client: [AccessTokenInterceptors(tokens)]) { client async throws in
        for _ in 0..<100 {
          _ = await status { _ = try await rejected.get(request("x")) }
          #expect(try await client.get(request("x")).text == "x")
        }
      }
    }
    #expect(issuer.count == 2)
    #expect(rejecting.calls == 101)
  }

  /// The token is not obtained in the task of the call that needs it first, whose values it would inherit.
  @Test func aTokenBelongsToNoCall() async throws {
    enum Caller { @TaskLocal static var name: String? }
    let names = Locked<[String?]>([])
    let tokens = AccessTokens {
      names.withLock { $0.append(Caller.name) }
      return AccessToken("token")
    }
    _ = try await Caller.$name.withValue("ada") { try await tokens.token() }
    #expect(names.withLock { $0 } == [nil])
  }

  @Test func withoutATokenTheCallFails() async throws {
    struct Broken: Error {}
    let attempts = Locked(0)
    let tokens = AccessTokens {
      attempts.withLock { $0 += 1 }
      throw Broken()
    }
    let provider = TestProvider()
    try await withEcho(provider, client: [AccessTokenInterceptors(tokens)]) { client async throws in
      #expect(await status { _ = try await client.get(request("x")) }?.code == .unauthenticated)
      #expect(await status { _ = try await client.get(request("x")) }?.code == .unauthenticated)
    }
    #expect(provider.calls == 0)
    #expect(attempts.withLock { $0 } == 2)
  }

  @Test func aCallThatIsCancelledStopsWaitingForItsToken() async throws {
    let issuer = Issuer(isHeld: true)
    let tokens = AccessTokens { try await issuer.issue() }
    try await withEcho(TestProvider(), client: [AccessTokenInterceptors(tokens)]) { client async throws in
      let task = Task { try await client.get(request("x")) }
      await issuer.waitUntilRequested()
      task.cancel()
      #expect(await status { _ = try await task.value }?.code == .cancelled)
      issuer.release()
      #expect(try await client.get(request("x")).text == "x")
    }
    #expect(issuer.count == 1)
  }
}

/// Issues numbered tokens, at once or when it is released.
private final class Issuer: Sendable {
  private struct State {
    var count = 0
    var isHeld: Bool
    var held: [CheckedContinuation<Void, Never>] = []
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  init(isHeld: Bool = false) { state = Locked(State(isHeld: isHeld)) }

  var count: Int { state.withLock { $0.count } }

  func issue() async throws -> AccessToken {
    let (number, watchers) = state.withLock { state in
      state.count += 1
      defer { state.watchers = [] }
      return (state.count, state.watchers)
    }
    for watcher in watchers { watcher.resume() }
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.isHeld { state.held.append(continuation) }
        return state.isHeld
      }
      if !isHeld { continuation.resume() }
    }
    return AccessToken("token \(number)")
  }

  func waitUntilRequested() async {
    await withCheckedContinuation { continuation in
      let isAsked = state.withLock { state in
        if state.count == 0 { state.watchers.append(continuation) }
        return state.count > 0
      }
      if isAsked { continuation.resume() }
    }
  }

  func release() {
    let held = state.withLock { state in
      state.isHeld = false
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }
}
