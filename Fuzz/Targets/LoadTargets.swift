import LoadMessages
import SwitchboardProtobuf

@testable import SwitchboardLoad

/// What `switchboard load` reads: files of payloads, conditions, and messages of agents and of earlier runs.
enum LoadTargets {
  /// A file of payloads, each a template; the text as a template and as conditions, too.
  static func payloads(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    if let payloads = try? PayloadFile.payloads(in: text) {
      // Bytes and not characters: a brace and a combining mark are one character.
      var rest = Array(text.utf8)[...]
      for payload in payloads.map({ Array($0.utf8) }) {
        let range = rest.firstRange(of: payload)
        try BrokenPromise.unless(
          payload.first == UInt8(ascii: "{") && payload.last == UInt8(ascii: "}") && range != nil,
          "a payload that is not in the file"
        )
        rest = rest[(range?.upperBound ?? rest.endIndex)...]
      }
      for payload in payloads.prefix(10) { try template(payload) }
    }
    try template(text)
    _ = try? LoadCondition.list(text).map { $0.description(in: LoadTally()) }
  }

  private static func template(_ text: String) throws {
    guard let template = try? PayloadTemplate(text) else { return }
    var (first, second) = (SeededNumbers(seed: 1, call: 2), SeededNumbers(seed: 1, call: 2))
    let (one, two) = (template.text(call: 2, numbers: &first), template.text(call: 2, numbers: &second))
    try BrokenPromise.unless(one == two, "the same seed makes another text")
    try BrokenPromise.unless(!template.isConstant || one == text, "a constant template changes its text")
  }

  /// A request or a response of an agent, and a report.
  static func messages(_ input: [UInt8]) throws {
    if case .plan(let plan)? = (try? LoadTestAgentRequest(serializedBytes: input))?.request {
      _ = try? plan.settings()
      _ = plan.part(1, of: 3)
    }
    let response = (try? LoadTestAgentResponse(serializedBytes: input))?.response
    switch response {
    case .progress(let measurements)?, .result(let measurements)?: try tally(measurements)
    case nil: break
    }
    let text = String(decoding: input, as: UTF8.self)
    if let (report, tally) = try? LoadTestReport.read(text) {
      _ = HTMLReport(report, tally).text
      _ = TextReport(report, tally).text
      _ = CSVReport.text(report, tally)
    }
  }

  private static func tally(_ message: LoadTestMeasurements) throws {
    guard var tally = LoadTally(message) else { return }
    _ = LoadComparison(old: tally, new: tally).text(ink: Ink(isColored: false))
    let again = LoadTally(tally.message)
    try BrokenPromise.unless(again?.latency == tally.latency, "measurements are read as others")
    let calls = tally.calls
    tally.add(tally)
    try BrokenPromise.unless(tally.calls == 2 * calls, "measurements do not add up")
  }
}
