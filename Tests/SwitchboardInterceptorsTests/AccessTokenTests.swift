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

  @Test func rejectingAReplacedTokenHasNoEffect() async throws {
    let issuer = Issuer()
    let tokens = AccessTokens { try await issuer.issue() }
    let first = try await tokens.token()
    tokens.refuse(first)
    #expect(try await tokens.token().value == "token 2")
    tokens.refuse(first)
    #expect(try await tokens.token().value == "token 2")
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
