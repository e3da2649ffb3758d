import Testing

@testable import SwitchboardCall

@Suite struct ResolvedConfigTests {
  /// What a resolution waited for is not what is missing once it has failed.
  @Test func aFailureTakesThePlaceOfWhatWasAwaited() {
    let config = ResolvedConfig()
    config.awaits("the listener greeter")
    #expect(config.progress == " (which needs the listener greeter)")
    config.failed(GRPCStatus(code: .unavailable, message: "there is no such listener"), isFinal: false)
    #expect(config.progress == " (last error: there is no such listener)")
  }
}
