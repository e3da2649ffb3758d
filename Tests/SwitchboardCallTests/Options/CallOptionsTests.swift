import Testing

@testable import SwitchboardCall

@Suite struct CallOptionsTests {
  @Test func emptyOptionsTakeOnePointer() {
    #expect(CallOptions().box == nil)
    #expect(MemoryLayout<CallOptions>.size == MemoryLayout<UnsafeRawPointer>.size)
    var options = CallOptions()
    options.initialMetadata = HPACKHeaders()
    #expect(options.box == nil)
    #expect(CallOptions().overridden(by: options).box == nil)
  }

  @Test func changingACopyLeavesTheOriginalUnchanged() {
    let first = CallOptions(timeout: .seconds(1))
    var second = first
    second.timeout = .seconds(2)
    second.keepaliveInterval = .seconds(3)
    #expect(first.timeout == .seconds(1))
    #expect(first.keepaliveInterval == nil)
    #expect(second.timeout == .seconds(2))
    var third = second
    third.keepaliveInterval = nil
    #expect(second.keepaliveInterval == .seconds(3))
  }

  @Test func aCallOverridesItsClientFieldByField() {
    let client = CallOptions.with {
      $0.timeout = .seconds(10)
      $0.initialMetadata = ["client": "1"]
      $0.waitForReady = true
      $0.compression = .gzip
      $0.userAgentPrefix = "client"
      $0.keepaliveInterval = .seconds(5)
      $0.logContext = ["who": "client"]
    }
    let call = CallOptions.with {
      $0.timeout = .seconds(1)
      $0.compression = .none
      $0.keepaliveInterval = .seconds(6)
    }
    let both = client.overridden(by: call)
    #expect(both.timeout == .seconds(1))
    #expect(both.initialMetadata == ["client": "1"])
    #expect(both.waitForReady)
    #expect(both.compression == .none)
    #expect(both.userAgentPrefix == "client")
    #expect(both.keepaliveInterval == .seconds(6))
    #expect(both.logContext == ["who": "client"])
    #expect(client.overridden(by: .with { $0.waitForReady = false }).waitForReady == false)
    #expect(client.overridden(by: .with { $0.timeout = CallOptions.noTimeout }).timeout == nil)
    #expect(client.overridden(by: CallOptions()).timeout == .seconds(10))
    #expect(CallOptions().overridden(by: client).timeout == .seconds(10))
  }

  /// A token for all calls of a client must not be lost because a call says something else.
  @Test func aCallsMetadataOverridesTheClientsNameByName() {
    let client = CallOptions(initialMetadata: [
      "authorization": "Bearer 1", "tenant": "north", "Tenant": "east",
    ])
    let both = client.overridden(by: CallOptions(initialMetadata: ["TENANT": "south", "trace": "on"]))
    #expect(both.initialMetadata == ["authorization": "Bearer 1", "TENANT": "south", "trace": "on"])
    #expect(client.initialMetadata.count == 3)
  }

  /// Merging two values, in either order, keeps an option that only one of them chooses.
  @Test(arguments: Self.choices.indices)
  func everyOptionIsMerged(_ index: Int) {
    let choice = Self.choices[index]
    let chosen = CallOptions.with(choice.choose)
    let other = CallOptions.with {
      $0.oauth2AccessToken = "other"
      $0.channelPoolDomain = "other"
    }
    #expect(choice.isChosen(chosen))
    #expect(choice.isChosen(other.overridden(by: chosen)))
    if index >= 2 { #expect(choice.isChosen(chosen.overridden(by: other))) }
    #expect(!choice.isChosen(CallOptions()))
  }

  struct Choice: Sendable {
    var choose: @Sendable (inout CallOptions) -> Void
    var isChosen: @Sendable (CallOptions) -> Bool
  }

  struct Provider: AuthTokenProvider {
    func token() -> String? { "t" }
  }

  static let choices: [Choice] = [
    Choice(choose: { $0.oauth2AccessToken = "t" }, isChosen: { $0.oauth2AccessToken == "t" }),
    Choice(choose: { $0.channelPoolDomain = "d" }, isChosen: { $0.channelPoolDomain == "d" }),
    Choice(choose: { $0.timeout = .seconds(1) }, isChosen: { $0.timeout == .seconds(1) }),
    Choice(choose: { $0.initialMetadata = ["a": "b"] }, isChosen: { $0.initialMetadata == ["a": "b"] }),
    Choice(choose: { $0.waitForReady = true }, isChosen: { $0.waitForReady }),
    Choice(choose: { $0.serverAuthority = "a" }, isChosen: { $0.serverAuthority == "a" }),
    Choice(choose: { $0.authTokenProvider = Provider() }, isChosen: { $0.authTokenProvider != nil }),
    Choice(choose: { $0.flowControlEnabled = true }, isChosen: { $0.flowControlEnabled }),
    Choice(
      choose: { $0.logger = Logger(nil, minimumLevel: .trace) },
      isChosen: { $0.logger.minimumLevel == .trace }
    ),
    Choice(choose: { $0.compression = .deflate }, isChosen: { $0.compression == .deflate }),
    Choice(choose: { $0.responseSizeLimit = 5 }, isChosen: { $0.responseSizeLimit == 5 }),
    Choice(choose: { $0.enableRetry = false }, isChosen: { !$0.enableRetry }),
    Choice(choose: { $0.userAgentPrefix = "u" }, isChosen: { $0.userAgentPrefix == "u" }),
    Choice(choose: { $0.keepaliveInterval = .seconds(1) }, isChosen: { $0.keepaliveInterval == .seconds(1) }),
    Choice(choose: { $0.keepaliveTimeout = .seconds(1) }, isChosen: { $0.keepaliveTimeout == .seconds(1) }),
    Choice(choose: { $0.connectMinTimeout = .seconds(1) }, isChosen: { $0.connectMinTimeout == .seconds(1) }),
    Choice(
      choose: { $0.connectInitialBackoff = .seconds(1) },
      isChosen: { $0.connectInitialBackoff == .seconds(1) }
    ),
    Choice(choose: { $0.connectMaxBackoff = .seconds(1) }, isChosen: { $0.connectMaxBackoff == .seconds(1) }),
    Choice(
      choose: { $0.additionalChannelArgs = ["a": 1, "b": "c", "d": true] },
      isChosen: { $0.additionalChannelArgs == ["a": .integer(1), "b": .string("c"), "d": .integer(1)] }
    ),
    Choice(choose: { $0.pemRootCert = "p" }, isChosen: { $0.pemRootCert == "p" }),
    Choice(choose: { $0.pemPrivateKey = "p" }, isChosen: { $0.pemPrivateKey == "p" }),
    Choice(choose: { $0.pemCertChain = "p" }, isChosen: { $0.pemCertChain == "p" }),
    Choice(choose: { $0.security = .plaintext }, isChosen: { $0.security == .plaintext }),
    Choice(choose: { $0.hostNameOverride = "h" }, isChosen: { $0.hostNameOverride == "h" }),
    Choice(choose: { $0.logContext = ["a": "b"] }, isChosen: { $0.logContext == ["a": "b"] }),
    Choice(choose: { $0.channelID = 3 }, isChosen: { $0.channelID == 3 }),
    Choice(choose: { $0.maxMetadataSize = 3 }, isChosen: { $0.maxMetadataSize == 3 }),
    Choice(choose: { $0.hpackTableSizeEncoder = 3 }, isChosen: { $0.hpackTableSizeEncoder == 3 }),
    Choice(choose: { $0.hpackTableSizeDecoder = 3 }, isChosen: { $0.hpackTableSizeDecoder == 3 }),
    Choice(choose: { $0.maxConcurrentStreams = 3 }, isChosen: { $0.maxConcurrentStreams == 3 }),
    Choice(choose: { $0.streamLookahead = 3 }, isChosen: { $0.streamLookahead == 3 }),
    Choice(choose: { $0.retryBufferSize = 3 }, isChosen: { $0.retryBufferSize == 3 }),
    Choice(
      choose: { $0.serviceConfig = try? ServiceConfig() },
      isChosen: { $0.serviceConfig == (try? ServiceConfig()) }
    ),
  ]

  private final class Entries: LogHandler {
    let entries = Locked<[[String: String]]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      entries.withLock { $0.append(metadata) }
    }
  }

  @Test func theLogContextIsInEveryEntry() {
    let entries = Entries()
    let options = CallOptions.with {
      $0.logger = Logger(entries)
      $0.logContext = ["library": "maps", "a": "context"]
    }
    options.logger.log(.info, "x", ["a": "entry", "b": "c"])
    options.logger.log(.info, "y")
    #expect(
      entries.entries.withLock { $0 } == [
        ["library": "maps", "a": "entry", "b": "c"], ["library": "maps", "a": "context"],
      ]
    )
  }
}
