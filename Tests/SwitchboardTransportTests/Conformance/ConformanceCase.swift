import HTTP2TestSupport
import Testing

/// The actions of a client, and the response that a server must give.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
  typealias Kind = FramePeer.Kind

  /// The section of RFC 9113 (or of RFC 7541, as `HPACK 5.2`) that requires it.
  let section: String
  let name: String
  let expected: Expectation
  /// The kinds of request that the case applies to.
  var requests: [Dialogue.Request] = [.grpc, .plain]
  /// Without a preface, the client sends only the script.
  var greets = true
  let script: @Sendable (Dialogue) -> Void

  init(
    _ section: String,
    _ name: String,
    _ expected: Expectation,
    requests: [Dialogue.Request] = [.grpc, .plain],
    greets: Bool = true,
    _ script: @escaping @Sendable (Dialogue) -> Void
  ) {
    self.section = section
    self.name = name
    self.expected = expected
    self.requests = requests
    self.greets = greets
    self.script = script
  }

  var testDescription: String { "\(section): \(name)" }
}
