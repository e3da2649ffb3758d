import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Metadata that HTTP does not allow fails its call, and the error names it.
@Suite(.timeLimit(.minutes(5))) struct UnsendableMetadataTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let value: String
    let message: String
    var testDescription: String { message }
  }

  private static let samples = [
    Sample(
      name: "not a name",
      value: "x",
      message: "the metadata \"not a name\" is not a name that HTTP allows"
    ),
    Sample(name: "", value: "x", message: "the metadata \"\" is not a name that HTTP allows"),
    Sample(
      name: "fine",
      value: "a\r\nb: c",
      message:
        "the metadata \"fine\" has a value that HTTP does not allow (it has a line break, or another control character)"
    ),
    Sample(
      name: "fine",
      value: "x ",
      message:
        "the metadata \"fine\" has a value that HTTP does not allow (it begins or ends with a space)"
    ),
    Sample(
      name: "note-bin",
      value: "hello, world",
      message: """
        the metadata "note-bin" is binary because of its name, but its value is not in base64: \
        use add(name:binary:), or another name
        """
    ),
    Sample(
      name: "note-bin",
      value: "hello world",
      message: """
        the metadata "note-bin" is binary because of its name, but its value is not in base64: \
        use add(name:binary:), or another name
        """
    ),
    Sample(
      name: "fine",
      value: "\tx",
      message:
        "the metadata \"fine\" has a value that HTTP does not allow (it begins or ends with a space)"
    ),
    Sample(
      name: "note-bin",
      value: "AQ==Ag",
      message: """
        the metadata "note-bin" is binary because of its name, but its value is not in base64 (it goes on after its \
        padding, =): use add(name:binary:), or another name
        """
    ),
    Sample(
      name: "note-bin",
      value: "AQI-",
      message: """
        the metadata "note-bin" is binary because of its name, but its value is not in base64 (the alphabet with - and _ \
        is that of URLs, not of metadata): use add(name:binary:), or another name
        """
    ),
    Sample(
      name: "note-bin",
      value: "AQIDB",
      message: """
        the metadata "note-bin" is binary because of its name, but its value is not in base64 (a digit is missing, or \
        there is one too many): use add(name:binary:), or another name
        """
    ),
  ]

  @Test(arguments: samples, [Wire.ipv4, .inProcess])
  func aCallWithUnsendableMetadataIsNotSent(_ sample: Sample, _ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      var options = CallOptions()
      options.initialMetadata.add(name: sample.name, value: sample.value)
      let unary = await status { _ = try await pair.get(options: options) }
      #expect(unary?.code == .internalError)
      #expect(unary?.message == sample.message)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func aPathWithoutItsSlashIsNotSent(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let method = MethodDescriptor(path: "test.Test/Get", type: .unary)
      let failure = await status { _ = try await pair.get(method) }
      #expect(failure?.code == .invalidArgument)
      #expect(
        failure?.message == "the call's path has no slash at its beginning: write /test.Test/Get"
      )
    }
  }

  @Test(
    arguments: [
      (MethodDescriptor(service: "test.Test", method: "Get it", type: .unary), "has a space, or another"),
      (MethodDescriptor(service: "test.T\u{eb}st", method: "Get", type: .unary), "has a space, or another"),
      (
        MethodDescriptor(service: "test.Test", method: "", type: .unary),
        "lacks the name of a service or of a method"
      ),
      (
        MethodDescriptor(service: "", method: "Get", type: .unary),
        "lacks the name of a service or of a method"
      ),
      (MethodDescriptor(path: "/test.Test/Get/", type: .unary), "lacks the name of a service or of a method"),
    ],
    [Wire.ipv4, .inProcess]
  )
  func aPathWithoutANameIsNotSent(_ sample: (MethodDescriptor, String), _ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let failure = await status { _ = try await pair.get(sample.0) }
      #expect(failure?.code == .invalidArgument)
      #expect(failure?.message?.contains(sample.1) == true)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func anEmptyAuthorityIsNotSent(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let failure = await status { _ = try await pair.get(options: CallOptions(serverAuthority: "")) }
      #expect(failure?.code == .invalidArgument)
      #expect(failure?.message?.hasPrefix("CallOptions.serverAuthority is empty: leave it out") == true)
    }
  }

  private struct Tokens: AuthTokenProvider {
    let text: String
    func token() async throws -> String? { text }
  }

  @Test(
    arguments: ["", "Bearer s3cret", "bearer s3cret", "s3cret\n", "s3cret\r\n"],
    [Wire.ipv4, .inProcess]
  )
  func moreThanATokenIsNotSent(_ token: String, _ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      var (fixed, provided) = (CallOptions(), CallOptions())
      fixed.oauth2AccessToken = token
      provided.authTokenProvider = Tokens(text: token)
      for options in [fixed, provided] {
        let failure = await status { _ = try await pair.get(options: options) }
        #expect(failure?.code == .invalidArgument)
        #expect(failure?.message?.contains("give the token alone") == true)
        #expect(failure?.message?.contains("s3cret") == false)
      }
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func bytesUnderTheNameOfATextAreNotSent(_ wire: Wire) async throws
  {
    try await TestPair.with(wire) { pair async throws in
      var options = CallOptions()
      options.initialMetadata.add(name: "note", binary: [1, 2])
      let failure = await status { _ = try await pair.get(options: options) }
      #expect(
        failure?.message
          == "the metadata \"note\" has a binary value, which needs a name that ends in -bin"
      )
    }
  }

  /// As it is in metadata that was received.
  @Test func base64UnderABinaryNameIsSent() async throws {
    try await TestPair.with { pair async throws in
      let options = CallOptions(initialMetadata: ["one": "x", "two-bin": "AQI=, Aw", "two-bin": ""])
      #expect(try await !pair.get(TestService.reflect, options: options).isEmpty)
    }
  }

  private func call(_ method: MethodDescriptor, by caller: Caller) async throws {
    if method.type == .unary {
      _ = try await caller.get(method, [1])
    } else {
      _ = try await caller.expand(method, [1]).collected()
    }
  }

  enum Part: CaseIterable { case initial, initialAlone, trailers }

  /// The client is not to blame: the log of the server has what it needs.
  @Test(arguments: samples, Part.allCases)
  func aResponseWithUnsendableMetadataFails(_ sample: Sample, _ part: Part) async throws {
    for wire in [Wire.ipv4, .inProcess] {
      let entries = LogEntries()
      try await withCaller(sample, part, wire, entries) { caller async throws in
        for method in [Spoiler.unary, Spoiler.stream] {
          let failure = await status { try await call(method, by: caller) }
          #expect(failure?.code == .internalError, "\(wire)")
          let fixed = "the server's metadata for the call cannot be sent, and its log says why"
          #expect(failure?.message == fixed, "\(wire)")
        }
      }
      #expect(entries.all.map { $0.metadata["method"] } == ["/s/Unary", "/s/Stream"], "\(wire)")
      for entry in entries.all {
        #expect(entry.level == .error)
        #expect(entry.metadata["error"] == sample.message)
        #expect(entry.metadata["call"]?.isEmpty == false)
      }
    }
  }

  /// Of the client's limit, both learn.
  @Test(arguments: Part.allCases) func metadataAboveTheClientsLimitIsLogged(_ part: Part) async throws {
    let sample = Sample(name: "large", value: String(repeating: "x", count: 100_000), message: "")
    let entries = LogEntries()
    try await withCaller(sample, part, .ipv4, entries) { caller async throws in
      for method in [Spoiler.unary, Spoiler.stream] {
        let failure = await status { try await call(method, by: caller) }
        #expect(failure?.code == .resourceExhausted)
        #expect(failure?.message?.contains("the largest is large, with a value of 100000 bytes") == true)
      }
    }
    #expect(entries.all.map { $0.metadata["method"] } == ["/s/Unary", "/s/Stream"])
    #expect(
      entries.all.allSatisfy {
        $0.level == .error && $0.metadata["error"]?.contains("ChannelOptions.maxMetadataSize") == true
      }
    )
  }

  /// A handler that keeps writing has no effect.
  @Test(arguments: [Wire.ipv4, .inProcess])
  func unsendableMetadataCancelsTheHandler(_ wire: Wire) async throws {
    let (cancelled, continuation) = AsyncStream<Void>.makeStream()
    let finish: @Sendable () -> Void = { continuation.finish() }
    try await withCaller(Self.samples[0], .initialAlone, wire, whenCancelled: finish) { caller async throws in
      let failure = await status { _ = try await caller.expand(Spoiler.waiting, [1]).collected() }
      #expect(failure?.code == .internalError)
      for await _ in cancelled {}
    }
  }

  private func withCaller(
    _ sample: Sample,
    _ part: Part,
    _ wire: Wire,
    _ entries: LogEntries = LogEntries(),
    whenCancelled: @escaping @Sendable () -> Void = {},
    _ body: (Caller) async throws -> Void
  ) async throws {
    let spoiler = Spoiler(sample: sample, part: part, whenCancelled: whenCancelled)
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withChannel(to: [spoiler], over: wire, options: options) { channel async throws in
      try await body(Caller(channel: channel))
    }
  }

  private struct Spoiler: CallHandlerProvider {
    let sample: Sample
    let part: Part
    let whenCancelled: @Sendable () -> Void

    static let unary = MethodDescriptor(service: "s", method: "Unary", type: .unary)
    static let stream = MethodDescriptor(service: "s", method: "Stream", type: .serverStreaming)
    static let waiting = MethodDescriptor(service: "s", method: "Waiting", type: .serverStreaming)

    var serviceName: String { "s" }

    private func spoil(_ context: ServerCallContext) {
      let metadata = HPACKHeaders([("one", "1"), (sample.name, sample.value)])
      switch part {
      case .initial: context.setInitialMetadata(metadata)
      case .initialAlone:
        context.setInitialMetadata(metadata)
        context.sendInitialMetadata()
      case .trailers: context.setTrailers(metadata)
      }
    }

    var methodHandlers: [MethodHandler] {
      return [
        Self.unary.bytes.unaryHandler { request, context in
          spoil(context)
          return request
        },
        Self.stream.bytes.serverStreamingHandler {
          request,
          responses,
          context in
          spoil(context)
          for _ in 0..<3 { try await responses.send(request) }
        },
        Self.waiting.bytes.serverStreamingHandler { _, _, context in
          spoil(context)
          while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
          whenCancelled()
        },
      ]
    }
  }
}
