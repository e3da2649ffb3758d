import HTTP2TestSupport
import Testing

/// A client that does one thing, and how a server must take it.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
  typealias Kind = FramePeer.Kind

  /// The section of RFC 9113 (or of RFC 7541, as `HPACK 5.2`) that says so.
  let section: String
  let name: String
  let expected: Expectation
  /// With which kinds of request the case makes sense.
  var requests = Dialogue.Request.allCases
  /// Without a greeting the script is all that the client says.
  var greets = true
  let script: @Sendable (Dialogue) -> Void

  init(
    _ section: String,
    _ name: String,
    _ expected: Expectation,
    requests: [Dialogue.Request] = Dialogue.Request.allCases,
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
