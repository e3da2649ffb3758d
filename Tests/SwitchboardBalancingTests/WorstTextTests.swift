import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardBalancing

/// The worst text of Unicode in what name services and servers send takes a time in proportion to its length.
@Suite struct WorstTextTests {
  private static let places: [(name: String, work: @Sendable (String) throws -> Void)] = [
    ("a name of a config", { _ = try ConfigValue(json: "{\"\($0)\":1}") }),
    ("a text of a config", { _ = try ConfigValue(json: "[\"\($0)\",\"\($0)\"]") }),
    (
      "a service config in DNS",
      { text in
        let config = "[{\"clientLanguage\":[\"s\(text)\"],\"serviceConfig\":{}}]"
        _ = try ServiceConfigChoice.choose(["g\(text)", "grpc_config=\(config)"], hostname: "host", roll: 0)
      }
    ),
    ("a policy", { _ = try ServiceConfig(json: "{\"loadBalancingConfig\":[{\"\($0)\":{}}]}") }),
    (
      "a code",
      { text in
        let retry = "{\"maxAttempts\":2,\"retryableStatusCodes\":[\"U\(text)\"]}"
        _ = try ServiceConfig(json: "{\"methodConfig\":[{\"name\":[{}],\"retryPolicy\":\(retry)}]}")
      }
    ),
    (
      "a duration",
      { _ = try ServiceConfig(json: "{\"methodConfig\":[{\"name\":[{}],\"timeout\":\"1.\($0)s\"}]}") }
    ),
    (
      "a load report",
      { text in
        var report = FieldWriter()
        for number in [4, 5, 8] as [UInt64] {
          var entry = FieldWriter()
          entry.add(1, Array(text.utf8))
          entry.add(2, 0.5)
          report.add(number, entry.bytes)
        }
        _ = LoadReport(serializedBytes: report.bytes)
      }
    ),
  ]

  @Test(arguments: places.indices, WorstText.allCases)
  func textTakesLinearTime(place: Int, text: WorstText) {
    let (name, work) = Self.places[place]
    Growth.check("\(name): \(text)", text.text) { try? work($0) }
  }

  @Test func longRunsOfMarksAreRefused() throws {
    let run = String(repeating: "\u{301}", count: 65)
    for json in ["{\"a\(run)\":1}", "[\"a\(run)\"]"] {
      let error = #expect(throws: GRPCStatus.self) { try ConfigValue(json: json) }
      #expect(error?.message?.contains("more than 64 combining marks in a row") == true)
    }
    #expect(try ConfigValue(json: "[\"a\(run)\"]", boundsText: false) == .array([.string("a\(run)")]))
    #expect(throws: GRPCStatus.self) { try ConfigValue(json: "{\"a\(run)\":1}", boundsText: false) }
    let shorter = String(repeating: "\u{301}", count: 64)
    #expect(throws: Never.self) { try ConfigValue(json: "{\"a\(shorter)\":1}") }
  }
}
