import SwitchboardCall
import Testing

@testable import SwitchboardConsole

/// Which metadata is shown, and where traces are.
@Suite struct CallOptionsTests {
  @Test func namedFieldsAreShownInAnyCase() throws {
    try ShownMetadata.check(["X-Request-Id", "user-agent"])
    let shown = ShownMetadata(["X-Request-Id"])
    #expect(shown.includes("x-request-id".utf8) && shown.includes("X-REQUEST-ID".utf8))
    #expect(!shown.includes("x-request-i".utf8) && !shown.includes("x-request-idx".utf8))
  }

  @Test(arguments: [
    ("authorization", "never shows 'authorization'"), ("Cookie", "never shows 'Cookie'"),
    ("proxy-authorization", "never shows"), ("set-cookie", "never shows"),
    ("trace-bin", "the length of 'trace-bin'"),
    ("", "has names of metadata"), ("a b", "has names of metadata"), (":path", "has names of metadata"),
    ("<script>", "has names of metadata"),
  ])
  func aFieldThatIsNeverShown(_ sample: (name: String, message: String)) {
    var options = ConsoleOptions()
    options.shownMetadata.append(sample.name)
    options.logger = .quiet
    let failure = #expect(throws: GRPCStatus.self) { try Console(options: options) }
    #expect(failure?.message?.hasPrefix("ConsoleOptions.shownMetadata ") == true)
    #expect(failure?.message?.contains(sample.message) == true, "\(failure?.message ?? "")")
  }

  @Test(arguments: [
    ("https://traces.example/trace/{trace}", "https://traces.example/trace/T"),
    ("http://localhost:16686/trace/{trace}?span={span}", "http://localhost:16686/trace/T?span=S"),
    ("https://t.example/explore?q=%22{trace}%22", "https://t.example/explore?q=%22T%22"),
  ])
  func aTraceHasAnAddress(_ sample: (template: String, address: String)) throws {
    #expect(try TraceLink(sample.template).address(trace: "T", span: "S") == sample.address)
  }

  @Test(arguments: [
    "", "traces.example/{trace}", "javascript:alert('{trace}')", "https://", "https:///{trace}",
    "https://{trace}.example/", "https://traces.example/", "https://traces.example/{trace}/{trace}",
    "https://traces.example/{trace", "https://traces.example/{id}/{trace}",
    "https://traces.example/}{trace}{", "https://traces.example/}{trace}",
    "https://traces.example/ {trace}", "https://traces.example/\"{trace}",
    "https://user@traces.example/{trace}",
    "HTTPS\u{3a}//x/{trace}\u{7f}", "https://traces.example\\@evil.example/{trace}",
  ])
  func anAddressThatIsNone(_ template: String) {
    var options = ConsoleOptions()
    options.traceLink = template
    options.logger = .quiet
    let failure = #expect(throws: GRPCStatus.self) { try Console(options: options) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message?.hasPrefix("ConsoleOptions.traceLink ") == true)
  }
}
