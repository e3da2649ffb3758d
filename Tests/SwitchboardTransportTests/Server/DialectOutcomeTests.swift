import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct DialectOutcomeTests {
  @Test func aRefusalReplacesThePage() {
    var head = RequestHead(listSizeLimit: 1000)
    head.settle(as: HTTPPage("GET", "/") { _ in HTTPPage.Response(body: []) })
    #expect(head.page?.path == "/" && head.outcome?.refusal == nil && !head.isCallOfDialect)
    head.refuse("413", "too large")
    #expect(head.page == nil)
    guard case .http(let status, let message, _) = head.outcome?.refusal else {
      return #expect(Bool(false))
    }
    #expect("\(status)" == "413" && message == "too large")
  }

  @Test func settingsOfADialectDecideTheMetadata() {
    #expect(!outcome(nil).hasSettings)
    let plain = outcome(DialectSettings())
    #expect(plain.isCall && plain.hasSettings && plain.metadata == nil)
    var settings = DialectSettings()
    settings.metadata = ["a": "b"]
    #expect(outcome(settings).metadata == ["a": "b"])
  }

  private func outcome(_ settings: consuming DialectSettings?) -> DialectOutcome {
    DialectOutcome(DialectCall(nil, .proto, GRPCWebExchange(.text, .proto), settings: settings))
  }
}
