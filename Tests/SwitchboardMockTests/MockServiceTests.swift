import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardDescriptors
import SwitchboardMock
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardText
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct MockServiceTests {
  static func schema() throws -> MockSchema {
    let files = try Echo_EchoMetadata.reflectionData.map { data in
      try Google_Protobuf_FileDescriptorProto(serializedBytes: Base64.decode(data.utf8) ?? [])
    }
    return try MockSchema(files)
  }

  static func serve(
    _ providers: [any CallHandlerProvider],
    _ body: (Channel, String) async throws -> Void
  ) async throws {
    try await withPair(providers) { pair async throws in
      try await body(pair.channel, "\(pair.address)")
    }
  }

  private func mock(_ rules: String? = nil, hasExamples: Bool = true) throws -> [any CallHandlerProvider] {
    let schema = try Self.schema()
    var settings = MockService.Settings()
    settings.hasExamples = hasExamples
    if let rules { settings.rules = try MockRules(rules, schema) }
    return try MockService.providers(schema, settings)
  }

  static func text(_ text: String) -> Echo_EchoRequest { .with { $0.text = text } }

  @Test func everyMethodHasAnExample() async throws {
    try await Self.serve(mock()) { channel, _ in
      let client = Echo_EchoClient(channel: channel)
      #expect(try await client.get(Self.text("x")).text == "text")
      #expect(try await client.collect([Self.text("x"), Self.text("y")]).text == "text")
      var texts: [String] = []
      for try await response in client.expand(Self.text("x")) { texts.append(response.text) }
      for try await response in client.update([Self.text("x"), Self.text("y")]) {
        texts.append(response.text)
      }
      #expect(texts == ["text", "text", "text"])
    }
  }

  @Test func rulesAnswer() async throws {
    let rules = """
      rules:
        - method: echo.Echo/Get
          match: {text: one}
          answer: {text: first}
          headers: {seen: yes}
          times: 1
        - method: echo.Echo/Get
          match: {text: one}
          answer: {text: later}
        - method: echo.Echo/Get
          match: {text: ""}
          status: {code: INVALID_ARGUMENT, message: it is empty}
          trailers: {why: empty}
        - method: echo.Echo/Expand
          stream: [{text: a}, {text: b}]
          every: 1ms
          status: DATA_LOSS
        - method: echo.Echo/Update
          match: {text: b}
          answer: {text: B}
      """
    try await Self.serve(mock(rules)) { channel, _ in
      let client = Echo_EchoClient(channel: channel)
      let call = client.makeGetCall(Self.text("one"))
      #expect(try await call.response.text == "first")
      #expect(try await call.initialMetadata.first(name: "seen") == "yes")
      #expect(try await client.get(Self.text("one")).text == "later")
      #expect(try await client.get(Self.text("two")).text == "text")
      let empty = client.makeGetCall(Self.text(""))
      let status = await empty.status
      #expect(status.code == .invalidArgument && status.message == "it is empty")
      #expect(try await empty.trailingMetadata.first(name: "why") == "empty")
      var texts: [String] = []
      let error = await #expect(throws: GRPCStatus.self) {
        for try await response in client.expand(Self.text("x")) { texts.append(response.text) }
      }
      #expect(error?.code == .dataLoss)
      for try await response in client.update([Self.text("a"), Self.text("b")]) {
        texts.append(response.text)
      }
      #expect(texts == ["a", "b", "text", "B"])
    }
  }

  /// Whatever the rules compare, the first one that matches answers.
  @Test func rulesKeepTheirOrder() async throws {
    let rules = """
      rules:
        - {method: echo.Echo/Get, match: {text: b}, answer: {text: first b}, times: 1}
        - {method: echo.Echo/Get, match: {text: a}, answer: {text: first a}, times: 1}
        - {method: echo.Echo/Get, answer: {text: any}, times: 1}
        - {method: echo.Echo/Get, match: {}, answer: {text: any again}, times: 1}
        - {method: echo.Echo/Get, match: {text: a}, answer: {text: last a}}
      """
    try await Self.serve(mock(rules)) { channel, _ in
      let client = Echo_EchoClient(channel: channel)
      var answers: [String] = []
      for text in ["a", "b", "b", "a", "a", "b"] {
        answers.append(try await client.get(Self.text(text)).text)
      }
      #expect(answers == ["first a", "first b", "any", "any again", "last a", "text"])
    }
  }

  /// For some calls each of them is the first that matches.
  @Test func rulesForSomeCallsAreTaken() throws {
    let rules = """
      rules:
        - {method: echo.Echo/Get, answer: {text: a}}
        - {method: '*', answer: {text: b}}
        - {method: echo.Echo/Expand, match: {text: a}, times: 1, answer: {text: c}}
      """
    let schema = try Self.schema()
    let error = #expect(throws: RuleError.self) { try MockRules(rules, schema) }
    #expect(error?.description == "rule 3: no call gets here: rule 2 answers all that match")
    for lines in [2, 3] {
      _ = try MockRules(rules.split(separator: "\n").prefix(lines).joined(separator: "\n"), schema)
    }
    // A stream of requests without any matches no pattern.
    _ = try MockRules(
      "rules: [{method: echo.Echo/Collect, match: {}, answer: {}}, {method: echo.Echo/Collect, answer: {}}]",
      schema
    )
  }

  /// An empty request would match all others.
  @Test func aRecordingOfAnEmptyRequestLeavesTheOthersTheirAnswers() async throws {
    let schema = try Self.schema()
    let recorder = MockRecorder(schema)
    let source = """
      rules:
        - {method: echo.Echo/Get, match: {text: ""}, answer: {text: none}}
        - {method: echo.Echo/Get, answer: {text: some}}
      """
    try await Self.serve(mock(source)) { server, _ in
      try await Self.serve(recorder.providers(schema, to: server)) { proxy, _ in
        let client = Echo_EchoClient(channel: proxy)
        for text in ["", "x"] { _ = try await client.get(Self.text(text)) }
        let learned = try #require(recorder.changes())
        try await Self.serve(mock(learned.text)) { replay, _ in
          let client = Echo_EchoClient(channel: replay)
          let none = try await client.get(Self.text(""))
          let some = try await client.get(Self.text("x"))
          #expect((none.text, some.text) == ("none", "some"))
        }
      }
    }
  }

  @Test func withoutExamplesOnlyRulesAnswer() async throws {
    try await Self.serve(
      mock("rules: [{method: '*', match: {text: x}, answer: {text: y}}]", hasExamples: false)
    ) {
      channel,
      _ in
      let client = Echo_EchoClient(channel: channel)
      let answer = try await client.get(Self.text("x"))
      #expect(answer.text == "y")
      let error = await #expect(throws: GRPCStatus.self) { try await client.get(Self.text("z")) }
      #expect(error?.code == .failedPrecondition)
    }
  }

  @Test func reflectionDescribesTheMock() async throws {
    try await Self.serve(mock()) { channel, _ in
      let client = Grpc_Reflection_V1_ServerReflectionClient(channel: channel)
      let request = Grpc_Reflection_V1_ServerReflectionRequest.with {
        $0.fileContainingSymbol = "echo.Echo.Get"
      }
      var files = 0
      for try await response in client.serverReflectionInfo([request]) {
        files += response.fileDescriptorResponse.fileDescriptorProto.count
      }
      #expect(files == 1)
    }
  }

  @Test(arguments: [
    ("rules: 1", "list of 'rules'"), ("rule: []", "no 'rule'"), ("rules: [1]", "rule 1: a rule is a number"),
    ("rules: [{answer: {}}]", "rule 1: it names no method"),
    ("rules: [{method: echo.Echo/Nothing, answer: {}}]", "no method 'echo.Echo/Nothing'"),
    ("rules: [{method: echo.Echo/Get, anser: {}}]", "no 'anser'"),
    ("", "the file is empty"),
    ("- {method: echo.Echo/Get, answer: {}}", "needs a line 'rules:'"),
    ("rules: [{method: echo.Echo/Get}]", "needs an answer or a status"),
    ("rules: [{method: echo.Echo/Get, answer: {txt: a}}]", "txt"),
    ("rules: [{method: echo.Echo/Get, match: {txt: a}, answer: {}}]", "txt"),
    ("rules: [{method: echo.Echo/Get, match: [], answer: {}}]", "match is a list"),
    ("rules: [{method: echo.Echo/Get, stream: [{}]}]", "has one response"),
    ("rules: [{method: echo.Echo/Get, status: OK}]", "not a status"),
    ("rules: [{method: echo.Echo/Get, status: 17}]", "not a status"),
    ("rules: [{method: echo.Echo/Get, answer: {}, status: 5}]", "either an answer or a status"),
    ("rules: [{method: echo.Echo/Get, answer: {}, delay: 5}]", "delay is not a time"),
    ("rules: [{method: echo.Echo/Get, answer: {}, delay: 2000m}]", "delay is 120000.0 seconds: it must be"),
    ("rules: [{method: echo.Echo/Get, answer: {}, times: 0}]", "it must be at least 1, or left out"),
    (
      "rules: [{method: echo.Echo/Get, answer: {}, every: 1s}]",
      "'every' has no effect: it is the wait between responses, of which there are 1"
    ),
    ("rules: [{method: echo.Echo/Expand, stream: [{}], every: 1s}]", "'every' has no effect"),
    (
      "rules: [{method: echo.Echo/Get, answer: {}, headers: {'a b': c}}]",
      "headers: 'a b' is not a name that HTTP allows"
    ),
    (
      "rules: [{method: echo.Echo/Get, answer: {}, trailers: {a: \"b\\nc\"}}]",
      "trailers: 'a' has a value that HTTP"
    ),
    (
      "rules: [{method: echo.Echo/Get, answer: {}}, {method: echo.Echo/Expand, stream: [], trailers: {A-bin: no base64!}}]",
      "rule 2: trailers: 'A-bin' is binary because of its name, but its value is not in base64: write it in base64"
    ),
    (
      "rules: [{method: echo.Echo/Get, answer: {}, headers: {a-bin: a}}]",
      "rule 1: headers: 'a-bin' is binary because of its name"
    ),
    (
      "rules: [{method: echo.Echo/Get, answer: {}, trailers: {grpc-status: 5}}]",
      "'grpc-status' is sent by the protocol"
    ),
    (
      "rules: [{method: '*', answer: {}}, {method: echo.Echo/Get, answer: {}}]",
      "rule 2: no call gets here: rule 1 answers"
    ),
    (
      "rules: [{method: '*', answer: {}}, {method: '*', match: {text: a}, answer: {}}]",
      "rule 2: no call gets here: rule 1"
    ),
    (
      "rules: [{method: echo.Echo/Get, match: {text: a}, answer: {}}, {method: echo.Echo/Get, match: {text: a}, answer: {}}]",
      "rule 2: no call gets here: rule 1 answers all that match"
    ),
    (
      "rules: [{method: echo.Echo/Get, match: {}, answer: {}}, {method: echo.Echo/Get, times: 1, answer: {}}]",
      "rule 2: no call gets here: rule 1"
    ),
  ])
  func mistakesAreNamed(_ text: String, _ wanted: String) throws {
    let schema = try Self.schema()
    let error = #expect(throws: RuleError.self) { try MockRules(text, schema) }
    #expect(error?.description.contains(wanted) == true, "\(String(describing: error))")
    // Not that of a text which nobody has written.
    #expect(error?.description.contains("column") == false, "\(String(describing: error))")
  }

  /// A rule has all the conditions of an earlier one, and more; or one that differs.
  @Test(arguments: [
    ("{numbers: [1]}", "{names: {a: 1}, numbers: [1]}", true),
    ("{names: {a: 1}, numbers: [1]}", "{numbers: [1]}", false),
    ("{inner: {numbers: [1]}}", "{numbers: [2], inner: {names: {a: 1}, numbers: [1]}}", true),
    ("{inner: {}}", "{inner: {numbers: [1]}}", true), ("{inner: {numbers: [1]}}", "{inner: {}}", false),
    ("{numbers: [1]}", "{names: {a: 1}, numbers: [2]}", false), ("{inner: null}", "{inner: {}}", false),
    ("{inner: {inner: {}}}", "{inner: {numbers: [1]}}", false),
    ("{numbers: [1]}", "{inner: {numbers: [1]}}", false),
  ])
  func aRuleAfterOneThatMatchesMoreIsRefused(_ first: String, _ second: String, _ isRefused: Bool) throws {
    var file = RecordingTests.numbers
    file.messageType[0].field.append(
      .with {
        ($0.name, $0.jsonName, $0.number) = ("inner", "inner", 9)
        ($0.type, $0.label, $0.typeName) = (.message, .optional, ".Numbers")
      }
    )
    let schema = try MockSchema([file])
    let others = (10..<20).map { "{method: '*', match: {numbers: [\($0)]}, answer: {}}" }
    func rules(_ times: String) -> String {
      let both = [
        "{method: '*', match: \(first), answer: {}\(times)}", "{method: '*', match: \(second), answer: {}}",
      ]
      return "rules: [\((others + both).joined(separator: ", "))]"
    }
    var mistake: String?
    do { _ = try MockRules(rules(""), schema) } catch { mistake = error.description }
    #expect(mistake == (isRefused ? "rule 12: no call gets here: rule 11 answers all that match" : nil))
    // What the first leaves, the second answers.
    _ = try MockRules(rules(", times: 1"), schema)
  }

  /// Each place of a rule file.
  @Test(
    arguments: [
      "?: []", "rules: ?", "rules: [{method: '?'}]", "rules: [{method: '/?'}]",
      "rules: [{method: '*', ?: 1}]",
      "rules: [{method: '*', status: '?'}]", "rules: [{method: '*', delay: '?s'}]",
      "rules: [{method: '*', answer: {?: 1}}]", "rules: [{method: '*', match: {?: 1}, answer: {}}]",
      "rules: [{method: '*', headers: {?: 1}, answer: {}}]",
    ],
    WorstText.allCases
  ) func theWorstTextTakesLinearTime(_ form: String, _ text: WorstText) throws {
    let schema = try Self.schema()
    func rules(_ size: Int) -> String { form.replacing("?", with: text.text(size)) }
    Growth.check("\(form): \(text)", rules) { rules in
      #expect(throws: RuleError.self) { try MockRules(rules, schema) }
    }
  }

  @Test(arguments: [
    (
      "{\"rules\": [\n  {\"method\": \"echo.Echo/Get\", \"answer\": {}},\n]}",
      "line 2, column 44: a trailing comma before ']'"
    ),
    (
      "{\"rules\": [{\"method\": \"echo.Echo/Get\", \"answer\": {} ,}]}",
      "line 1, column 53: a trailing comma before '}'"
    ),
    ("rules: [{method: '*', answer: {text: a,}}]", "line 1, column 39: a trailing comma before '}'"),
  ])
  func aTrailingCommaIsNamed(_ text: String, _ wanted: String) throws {
    let schema = try Self.schema()
    let error = #expect(throws: RuleError.self) { try MockRules(text, schema) }
    #expect(error?.description == wanted + ": take it away")
  }

  @Test func aRecordingAnswersLikeTheServer() async throws {
    let schema = try Self.schema()
    let recorder = MockRecorder(schema)
    let source = """
      rules:
        - {method: echo.Echo/Get, match: {text: gone}, status: {code: NOT_FOUND, message: "it \\"is\\" gone"}}
        - {method: echo.Echo/Get, answer: {text: "täxt"}}
        - {method: echo.Echo/Expand, stream: [{text: a}, {text: b}]}
        - {method: echo.Echo/Collect, answer: {text: c}}
        - {method: echo.Echo/Update, match: {text: p}, answer: {text: P}}
        - {method: echo.Echo/Update, match: {text: q}, answer: {text: Q}}
      """
    @Sendable func answers(of client: Echo_EchoClient) async throws -> [String] {
      var seen = [try await client.get(Self.text("there")).text]
      do { _ = try await client.get(Self.text("gone")) } catch {
        seen.append("\(GRPCStatus(describing: error))")
      }
      for try await response in client.expand(Self.text("x")) { seen.append(response.text) }
      seen.append(try await client.collect([Self.text("1"), Self.text("2")]).text)
      for try await response in client.update([Self.text("p"), Self.text("q")]) { seen.append(response.text) }
      return seen
    }
    try await Self.serve(mock(source)) { server, _ in
      try await Self.serve(recorder.providers(schema, to: server)) { proxy, _ in
        let direct = try await answers(of: Echo_EchoClient(channel: server))
        let passed = try await answers(of: Echo_EchoClient(channel: proxy))
        #expect(passed == direct)
        let learned = try #require(recorder.changes())
        // They are changes until they are written.
        #expect(recorder.changes()?.text == learned.text)
        recorder.didWrite(learned)
        #expect(recorder.changes() == nil)
        #expect(recorder.counts.rules == 6)
        #expect(recorder.counts.left == (0, 0))
        try await Self.serve(mock(learned.text, hasExamples: false)) { replay, _ in
          let replayed = try await answers(of: Echo_EchoClient(channel: replay))
          #expect(replayed == direct)
        }
      }
    }
  }
}
