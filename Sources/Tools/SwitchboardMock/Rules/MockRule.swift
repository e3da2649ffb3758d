import Switchboard
import SwitchboardProtobuf
import SwitchboardText

/// A rule: how a mock answers matching requests of a method.
struct MockRule: Sendable {
  let pattern: RequestPattern?
  let answers: [DynamicMessage]
  /// How the call ends; nil if it succeeds.
  let status: GRPCStatus?
  /// The wait before the first response, and between responses.
  private(set) var delay: Duration
  private(set) var every: Duration
  let headers: HPACKHeaders
  let trailers: HPACKHeaders
  /// How often the rule may answer; nil if always.
  private(set) var times: Int?

  static let members = [
    "method", "match", "answer", "stream", "status", "delay", "every", "headers", "trailers", "times",
  ]

  init(_ document: DocumentValue, of method: MockMethod, _ options: JSONDecodingOptions) throws(RuleError) {
    let rule = try DocumentMembers(document, "a rule")
    try rule.check(Self.members)
    pattern = try rule["match"].map { value throws(RuleError) in
      try RequestPattern(value, method.request, options)
    }
    answers = try Self.answers(rule, method, options)
    status = try rule["status"].map(Self.status)
    delay = try rule.duration("delay") ?? .zero
    every = try rule.duration("every") ?? .zero
    headers = try Self.metadata(rule, "headers")
    trailers = try Self.metadata(rule, "trailers")
    times = try rule.number("times")
    do throws(GRPCStatus) { try checkRules() } catch { throw RuleError(error.message ?? "") }
    if rule["every"] != nil, answers.count < 2 {
      throw RuleError(
        "'every' has no effect: it is the wait between responses, of which there are \(answers.count)"
      )
    }
    guard !answers.isEmpty || status != nil || method.type.streamsResponses else {
      throw RuleError("a rule needs an answer or a status")
    }
    if status != nil, !answers.isEmpty, !method.type.streamsResponses {
      throw RuleError("a call with one response has either an answer or a status")
    }
  }

  private static func answers(
    _ rule: DocumentMembers,
    _ method: MockMethod,
    _ options: JSONDecodingOptions
  ) throws(RuleError) -> [DynamicMessage] {
    var documents: [DocumentValue] = []
    if let answer = rule["answer"] { documents.append(answer) }
    if let stream = rule["stream"] {
      guard case .list(let values) = stream else {
        throw RuleError("stream is \(stream.kind), not a list")
      }
      guard documents.isEmpty else { throw RuleError("a rule has either an answer or a stream") }
      guard method.type.streamsResponses else {
        throw RuleError("\(method.path) has one response, not a stream")
      }
      documents = values
    }
    return try documents.map { document throws(RuleError) in
      do throws(DecodeError) {
        return try DynamicMessage(method.response, jsonString: document.json, partial: true, options: options)
      } catch {
        throw RuleError("the answer: \(error.withoutLocation)")
      }
    }
  }

  /// Parses a status: `NOT_FOUND`, a number, or a map with a code and a message.
  private static func status(_ document: DocumentValue) throws(RuleError) -> GRPCStatus {
    var (code, message) = (document, String?.none)
    if case .map = document {
      let members = try DocumentMembers(document, "status")
      try members.check(["code", "message"])
      code = members["code"] ?? .null
      message = try members.text("message")
    }
    let found: GRPCStatus.Code?
    switch code {
    case .string(let name): found = GRPCStatus.Code(specName: name.uppercased())
    case .number(let digits): found = Int(digits).flatMap { GRPCStatus.Code(rawValue: $0) }
    default: found = nil
    }
    guard let found, found != .ok else {
      throw RuleError("\(code.json) is not a status with which a call can fail, such as NOT_FOUND")
    }
    return GRPCStatus(code: found, message: message)
  }

  private static func metadata(_ rule: DocumentMembers, _ name: String) throws(RuleError) -> HPACKHeaders {
    var headers = HPACKHeaders()
    guard let document = rule[name] else { return headers }
    for member in try DocumentMembers(document, name).all {
      switch member.value {
      case .string(let text), .number(let text): try add(text, as: member.name, in: name, to: &headers)
      case .bool(let value): try add("\(value)", as: member.name, in: name, to: &headers)
      default: throw RuleError("\(name): '\(member.name)' is \(member.value.kind), not text")
      }
    }
    return headers
  }

  /// Refuses what could not be sent, or would be left out.
  private static func add(
    _ value: String,
    as field: String,
    in name: String,
    to headers: inout HPACKHeaders
  ) throws(RuleError) {
    if let fault = FieldSyntax.faultInText(of: field, value) {
      throw RuleError("\(name): '\(field)' \(fault)")
    }
    guard !FieldSyntax.isReserved(field) else {
      throw RuleError("\(name): '\(field)' is sent by the protocol itself")
    }
    headers.add(name: field.lowercased(), value: value)
  }
}

extension MockRule: RuledOptions {
  package static let rules: [OptionRule<MockRule>] = [
    OptionRule(\.delay, "delay", .within(pauses)),
    OptionRule(\.every, "every", .within(pauses)),
    OptionRule(\.times, "times", .atLeast(1), or: "left out", because: "a rule is there to answer"),
  ]

  private static let pauses = Duration.zero ... .seconds(3600)
}

extension DecodeError {
  /// The error without its line and column, which refer to JSON that was made from the rule, not to the file.
  var withoutLocation: String {
    let text = description
    return text.ranges(of: " (line ").last.map { String(text[..<$0.lowerBound]) } ?? text
  }
}

/// The members of a map, by name.
struct DocumentMembers {
  let all: [DocumentValue.Member]
  private let values: [ExactText: DocumentValue]
  private let name: String

  init(_ document: DocumentValue, _ name: String) throws(RuleError) {
    guard case .map(let members) = document else {
      throw RuleError("\(name) is \(document.kind), not a map")
    }
    all = members
    values = Dictionary(members.map { (ExactText($0.name), $0.value) }) { first, _ in first }
    self.name = name
  }

  subscript(_ member: String) -> DocumentValue? { values[member].flatMap { $0 == .null ? nil : $0 } }

  /// Rejects unknown members, because a misspelled name would have no effect.
  func check(_ known: [String]) throws(RuleError) {
    guard let other = all.first(where: { member in !known.contains { $0.isExactly(member.name) } }) else {
      return
    }
    throw RuleError(
      "\(name) has no '\(other.name.excerpt)'; its members are \(known.sorted().joined(separator: ", "))"
    )
  }

  func text(_ member: String) throws(RuleError) -> String? {
    guard let value = self[member] else { return nil }
    guard case .string(let text) = value else { throw RuleError("\(member) is \(value.kind), not text") }
    return text
  }

  func number(_ member: String) throws(RuleError) -> Int? {
    guard let value = self[member] else { return nil }
    guard case .number(let digits) = value, let number = Int(digits) else {
      throw RuleError("\(member) is not a whole number")
    }
    return number
  }

  /// A time such as `20ms` or `1.5s`. The longest is some thirty years.
  func duration(_ member: String) throws(RuleError) -> Duration? {
    guard let value = self[member] else { return nil }
    let units: [(String, Double)] = [("us", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60)]
    guard case .string(let text) = value, let unit = units.first(where: { text.ends(with: $0.0) }),
      let digits = String(text.utf8.dropLast(unit.0.utf8.count)), DocumentReader.isNumber(digits),
      let number = Double(digits)
    else { throw RuleError("\(member) is not a time such as 20ms, 1.5s or 2m") }
    return .nanoseconds(Int64(min(max(number * unit.1, -1e9), 1e9) * 1e9))
  }
}
