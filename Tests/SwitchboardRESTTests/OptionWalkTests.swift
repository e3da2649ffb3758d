import CallTestSupport
import Switchboard
import SwitchboardREST
import TestSupport
import Testing

/// Each number among the options is tried at -1, 0, 1 and its maximum. It is refused with an error that names it, or requests
/// are answered.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OptionWalkTests {
  @Test func everyNumberHasARule() {
    #expect(OptionWalk.ruled(RESTOptions.self) == OptionWalk.numbers(in: RESTOptions()))
  }

  @Test(arguments: OptionWalk.samples(of: RESTOptions()))
  func anOptionIsRefusedOrWorks(_ sample: OptionSample<RESTOptions>) async throws {
    do {
      try await withRESTServer(sample.options) { address in
        let json = "content-type: application/json"
        let url = "http://\(address)/v1/collect"
        let curl = try ChildProcess(
          "/usr/bin/curl",
          ["-s", "-i", "--max-time", "60", "-H", json, "-d", "{}{}", url]
        )
        #expect(curl.allOutput().contains(" 200"))
      }
    } catch let error as GRPCStatus {
      #expect(sample.isRefused(by: error))
    }
  }
}
