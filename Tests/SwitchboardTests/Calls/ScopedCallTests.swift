import CallTestSupport
import EchoService
import Switchboard
import Testing

/// Generated clients' calls that end with a closure, and streams that are read twice, with and without interceptors.
@Suite(.timeLimit(.minutes(5))) struct ScopedCallTests {
  private func client(_ pair: EchoPair, _ intercepted: Bool) -> Echo_EchoClient {
    intercepted ? pair.client { [ClientHook()] } : pair.client()
  }

  @Test(arguments: [false, true]) func requestsEndWithTheirClosure(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let joined = try await client(pair, intercepted).collect { call in
        for text in ["a", "b", "c"] { try await call.requestStream.send(Echo_EchoRequest(text)) }
      }
      #expect(joined.text == "abc")
    }
  }

  @Test(arguments: [false, true]) func theRequestsOfASequenceAreSent(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let joined = try await client(pair, intercepted).collect { call in
        try await call.requestStream.send(contentsOf: ["a", "b", "c"].lazy.map { Echo_EchoRequest($0) })
      }
      #expect(joined.text == "abc")
    }
  }

  @Test(arguments: [false, true]) func aStreamEndsWithItsClosure(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let (first, call) = try await client(pair, intercepted).expand(Echo_EchoRequest("a b c")) { call in
        (try await call.responseStream.first { _ in true }, call)
      }
      #expect(first?.text.isEmpty == false)
      _ = await call.status
    }
  }

  @Test(arguments: [false, true]) func aDialogueIsAwaitedToItsEnd(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let (texts, call) = try await client(pair, intercepted).update { call in
        var responses = call.responseStream.makeAsyncIterator()
        var texts: [String] = []
        for text in ["a", "b"] {
          try await call.requestStream.send(Echo_EchoRequest(text))
          if let response = try await responses.next() { texts.append(response.text) }
        }
        return (texts, call)
      }
      #expect(texts.count == 2)
      #expect(await call.status == .ok)
    }
  }

  /// Its responses are not lost in silence.
  @Test(arguments: [false, true]) func aDialogueThatLeavesItsClosureSaysSo(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let call = try await client(pair, intercepted).update { call in
        try await call.requestStream.send(Echo_EchoRequest("a"))
        return call
      }
      let failure = await status { for try await _ in call.responseStream {} }
      #expect(failure == .leftScope)
      #expect(await call.status == .ok)
      let late = await status { try await call.requestStream.send(Echo_EchoRequest("b")) }
      #expect(late?.code == .failedPrecondition)
      let responses = try await client(pair, intercepted).update { call in
        try await call.requestStream.send(Echo_EchoRequest("a"))
        return call.responseStream
      }
      #expect(await status { for try await _ in responses {} } == .leftScope)
    }
  }

  /// Also if all its responses have arrived.
  @Test(arguments: [false, true]) func aStreamThatLeavesItsClosureSaysSo(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let responses = try await client(pair, intercepted).expand(Echo_EchoRequest("a b")) { call in
        #expect(await call.status == .ok)
        return call.responseStream
      }
      #expect(await status { for try await _ in responses {} } == .leftScope)
    }
  }

  @Test(arguments: [false, true]) func aSecondReadOfResponsesThrows(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let responses = client(pair, intercepted).expand(Echo_EchoRequest("a b"))
      #expect(try await responses.collected().count == 2)
      let second = await status { _ = try await responses.collected() }
      #expect(second?.code == .failedPrecondition)
      #expect(second?.message?.contains("read a second time") == true)
    }
  }

  @Test(arguments: [false, true]) func aCallReleasedWithoutFinishSaysBoth(_ intercepted: Bool)
    async throws
  {
    try await EchoPair.with { pair async throws in
      let responses: ResponseStream<Echo_EchoResponse>
      do {
        let call = client(pair, intercepted).makeUpdateCall()
        try await call.requestStream.send(Echo_EchoRequest("a"))
        responses = call.responseStream
      }
      let failure = await status { for try await _ in responses {} }
      #expect(failure?.code == .cancelled)
      #expect(
        failure?.message?.contains(
          "the call object was released before its call had ended, and without finish()"
        ) == true
      )
    }
  }
}
