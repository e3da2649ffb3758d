import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct DialectOutcomeTests {
  @Test func aRefusalReplacesThePage() {
    let outcome = DialectOutcome()
    outcome.become(HTTPPage("GET", "/") { _ in HTTPPage.Response(body: []) })
    #expect(outcome.page?.path == "/" && outcome.refusal == nil && !outcome.isCall)
    outcome.refuse("413", "too large")
    #expect(outcome.page == nil)
    guard case .http(let status, let message, _) = outcome.refusal else { return #expect(Bool(false)) }
    #expect("\(status)" == "413" && message == "too large")
  }

  @Test func settingsOfADialectDecideTheMetadata() {
    let outcome = DialectOutcome()
    var settings = DialectSettings()
    outcome.set(settings)
    #expect(outcome.hasSettings && outcome.metadata == nil)
    settings.metadata = ["a": "b"]
    outcome.set(settings)
    #expect(outcome.metadata == ["a": "b"])
  }
}
