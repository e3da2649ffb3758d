import CallTestSupport
import EchoService
import Switchboard
import SwitchboardProtobuf
import Testing

@testable import SwitchboardMock

/// Each number of a rule is tried at -1, 0, 1 and its maximum. It is refused with an error that names it, or calls are
/// answered.
@Suite(.timeLimit(.minutes(5))) struct OptionWalkTests {
  private static func rule(_ member: String = "times: 3") throws -> MockRule {
    let schema = try MockServiceTests.schema()
    let method = try #require(schema.methods(matching: "echo.Echo/Expand").first)
    let document = try DocumentReader.read("{method: echo.Echo/Expand, stream: [{text: x}, {}], \(member)}")
    return try MockRule(document, of: method, schema.jsonOptions)
  }

  @Test func everyNumberHasARule() throws {
    #expect(OptionWalk.ruled(MockRule.self) == OptionWalk.numbers(in: try Self.rule()))
  }

  @Test func aNumberIsRefusedOrHolds() throws {
    for sample in OptionWalk.samples(of: try Self.rule()) {
      do {
        try sample.options.checkRules()
        #expect(!sample.value.hasPrefix("-"))
      } catch { #expect(sample.isRefused(by: error), "\(error)") }
    }
  }

  @Test(arguments: [
    ("delay: -1s", "delay is -1.0 seconds: it must be"), ("delay: 0s", nil), ("delay: 1s", nil),
    ("delay: 1e300s", "delay is 1000000000.0 seconds: it must be"),
    ("every: -1s", "every is -1.0 seconds: it must be"), ("every: 0s", nil), ("every: 3600s", nil),
    ("every: -1e300m", "every is -1000000000.0 seconds: it must be"),
    ("times: -1", "times is -1: it must be"), ("times: 0", "times is 0: it must be"), ("times: 1", nil),
    ("times: \(Int.max)", nil), ("times: 1\(Int.max)", "times is not a whole number"),
  ])
  func aFilesNumberIsRefusedOrHolds(_ member: String, _ refusal: String?) throws {
    do {
      let rule = try Self.rule(member)
      #expect(refusal == nil)
      #expect([rule.delay, rule.every].contains { $0 > .seconds(3600) } == false)
    } catch { #expect(refusal.map { "\(error)".hasPrefix($0) } == true, "\(error)") }
  }
}
