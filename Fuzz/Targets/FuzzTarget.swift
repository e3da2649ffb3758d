/// What reads bytes from outside, each with a corpus of its name.
enum FuzzTarget: String, CaseIterable, Sendable {
  case wire, json, text, deframer, metadata, timeout, target, server, generator

  /// Reads `input` as the target's code would. Any answer will do, but for one that the code rules out.
  func run(_ input: [UInt8]) throws {
    switch self {
    case .wire: try MessageTargets.wire(input)
    case .json: try MessageTargets.json(input)
    case .text: try MessageTargets.text(input)
    case .deframer: try CallTargets.deframer(input)
    case .metadata: try CallTargets.metadata(input)
    case .timeout: try CallTargets.timeout(input)
    case .target: try CallTargets.target(input)
    case .server: try ServerUnderFuzz.shared.run(input)
    case .generator: try GeneratorTarget.run(input)
    }
  }
}

/// Something holds no more that must hold whatever the input.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String

  static func unless(_ holds: Bool, _ description: @autoclosure () -> String) throws(BrokenPromise) {
    if !holds { throw BrokenPromise(description: description()) }
  }
}
