import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardInterceptors
import Testing

@Suite(.timeLimit(.minutes(5))) struct CannedAnswersTests {
  private typealias Methods = Echo_EchoMetadata.Methods

  @Test func callsAreAnsweredWithoutAServer() async throws {
    let answers = CannedAnswers()
    answers.answer(Methods.get) { call in .with { $0.text = call.message.text + "!" } }
    answers.answerStream(Methods.expand) { call in
      var words: [Echo_EchoResponse] = []
      for try await message in call.messages {
        words = message.text.split(separator: " ").map { word in .with { $0.text = String(word) } }
      }
      return words
    }
    answers.answerStream(Methods.collect) { call in
      var text = ""
      for try await message in call.messages { text += message.text }
      return [.with { [text] in $0.text = text }]
    }
    try await withChannel(to: "127.0.0.1:1") { channel async throws in
      var options = CallOptions()
      options.interceptorFactories = [answers]
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: options)
      #expect(try await client.get(request("x")).text == "x!")
      #expect(try await client.collect([request("x"), request("y")]).text == "xy")
      var words: [String] = []
      for try await response in client.expand(request("a b")) { words.append(response.text) }
      #expect(words == ["a", "b"])
      #expect(answers.callCount(Methods.get.descriptor) == 1)
    }
  }

  @Test func anAnswerCanFail() async throws {
    let answers = CannedAnswers()
    answers.answer(Methods.get) { _ in throw GRPCStatus(code: .dataLoss, message: "gone") }
    try await withEcho(TestProvider(), client: [answers]) { client async throws in
      #expect(await status { _ = try await client.get(request("x")) }?.code == .dataLoss)
    }
  }

  /// A test learns why its answer was not used.
  @Test func aMissingAnswerIsExplained() async throws {
    let answers = CannedAnswers()
    try await withEcho(TestProvider(), client: [answers]) { client async throws in
      func failure() async -> String? {
        await status { _ = try await client.get(request("x")) }?.message
      }
      let start = "no canned answer for /echo.Echo/Get: "
      #expect(await failure() == start + "there are none")
      answers.answerStream(Methods.expand) { _ in [] }
      #expect(await failure() == start + "there are answers for /echo.Echo/Expand")
      answers.answerStream(Methods.get) { _ in [] }
      #expect(await failure() == start + "its answer was given for another type of method: use answer")
    }
  }

  @Test func callsWithoutACannedAnswerFailOrPass() async throws {
    let provider = TestProvider()
    try await withEcho(provider, client: [CannedAnswers()]) { client async throws in
      #expect(await status { _ = try await client.get(request("x")) }?.code == .unimplemented)
      let stream = await status { for try await _ in client.expand(request("x")) {} }
      #expect(stream?.code == .unimplemented)
    }
    #expect(provider.calls == 0)
    try await withEcho(provider, client: [CannedAnswers(passingOthers: true)]) { client async throws in
      #expect(try await client.get(request("x")).text == "x")
    }
    #expect(provider.calls == 1)
  }
}
