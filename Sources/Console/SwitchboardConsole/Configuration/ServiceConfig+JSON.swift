// text: the members of a config that was read, and digits of ours

import SwitchboardCall
import SwitchboardText

extension ServiceConfig {
  /// The config in gRPC's form, from which `ServiceConfig(json:)` reads the same. It has only what is understood.
  var json: String {
    var members: [(String, JSONPart)] = []
    if !loadBalancing.isEmpty {
      members.append(
        ("loadBalancingConfig", .list(loadBalancing.map { .object([($0.policy, JSONPart($0.members))]) }))
      )
    }
    if !methodConfigs.isEmpty { members.append(("methodConfig", .list(methodConfigs.map(\.part)))) }
    if let retryThrottling { members.append(("retryThrottling", retryThrottling.part)) }
    if let healthCheckedService {
      members.append(("healthCheckConfig", .object([("serviceName", .text(healthCheckedService))])))
    }
    return JSONPart.object(members).text()
  }
}

/// A piece of JSON, whose members have an order.
private indirect enum JSONPart {
  /// As it is written.
  case literal(String)
  case text(String)
  case list([JSONPart])
  case object([(String, JSONPart)])

  init(_ members: [String: ConfigValue]) {
    self = .object(members.sorted { $0.key < $1.key }.map { ($0.key, JSONPart($0.value)) })
  }

  init(_ value: ConfigValue) {
    switch value {
    case .null: self = .literal("null")
    case .bool(let isTrue): self = .literal("\(isTrue)")
    case .number(let number): self = .number(number)
    case .string(let text): self = .text(text)
    case .array(let values): self = .list(values.map { JSONPart($0) })
    case .object(let members): self.init(members)
    }
  }

  static func number(_ number: Double) -> JSONPart {
    .literal(Int(exactly: number).map { "\($0)" } ?? "\(number)")
  }

  static func duration(_ duration: Duration) -> JSONPart {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = attoseconds / 1_000_000_000
    guard nanoseconds != 0 else { return .text("\(seconds)s") }
    var digits = String("\(1_000_000_000 + nanoseconds)".dropFirst())
    while digits.last == "0" { digits.removeLast() }
    return .text("\(seconds).\(digits)s")
  }

  static func codes(_ codes: Set<GRPCStatus.Code>) -> JSONPart {
    .list(codes.sorted { $0.rawValue < $1.rawValue }.map { .text($0.specName) })
  }

  /// Written with indentation. What is short is on one line.
  func text(_ depth: Int = 0) -> String {
    switch self {
    case .literal(let text): return text
    case .text(let text): return JSONText.string(text)
    case .list(let parts): return Self.enclosed("[", parts.map { $0.text(depth + 1) }, "]", depth)
    case .object(let members):
      let parts = members.map { "\(JSONText.string($0.0)): \($0.1.text(depth + 1))" }
      return Self.enclosed("{", parts, "}", depth)
    }
  }

  private static let shortest = 60

  private static func enclosed(_ start: String, _ parts: [String], _ end: String, _ depth: Int) -> String {
    let line = parts.joined(separator: ", ")
    guard line.utf8.count > shortest || line.utf8.contains(UInt8(ascii: "\n")) else {
      return start + line + end
    }
    let indent = String(repeating: " ", count: 2 * depth)
    return "\(start)\n\(parts.map { "\(indent)  \($0)" }.joined(separator: ",\n"))\n\(indent)\(end)"
  }
}

extension MethodConfig {
  fileprivate var part: JSONPart {
    var members: [(String, JSONPart)] = [("name", .list(names.map(\.part)))]
    if let waitForReady { members.append(("waitForReady", .literal("\(waitForReady)"))) }
    if let timeout { members.append(("timeout", .duration(timeout))) }
    if let maxRequestMessageBytes {
      members.append(("maxRequestMessageBytes", .literal("\(maxRequestMessageBytes)")))
    }
    if let maxResponseMessageBytes {
      members.append(("maxResponseMessageBytes", .literal("\(maxResponseMessageBytes)")))
    }
    switch repetition {
    case .retry(let policy): members.append(("retryPolicy", policy.part))
    case .hedge(let policy): members.append(("hedgingPolicy", policy.part))
    case nil: break
    }
    return .object(members)
  }
}

extension MethodConfig.Name {
  fileprivate var part: JSONPart {
    let members = [("service", service), ("method", method)].filter { !$0.1.isEmpty }
    return .object(members.map { ($0.0, .text($0.1)) })
  }
}

extension RetryPolicy {
  fileprivate var part: JSONPart {
    .object([
      ("maxAttempts", .literal("\(maxAttempts)")), ("initialBackoff", .duration(initialBackoff)),
      ("maxBackoff", .duration(maxBackoff)), ("backoffMultiplier", .number(backoffMultiplier)),
      ("retryableStatusCodes", .codes(retryableStatusCodes)),
    ])
  }
}

extension HedgingPolicy {
  fileprivate var part: JSONPart {
    .object([
      ("maxAttempts", .literal("\(maxAttempts)")), ("hedgingDelay", .duration(hedgingDelay)),
      ("nonFatalStatusCodes", .codes(nonFatalStatusCodes)),
    ])
  }
}

extension RetryThrottling {
  fileprivate var part: JSONPart {
    .object([("maxTokens", .literal("\(maxTokens)")), ("tokenRatio", .number(tokenRatio))])
  }
}
