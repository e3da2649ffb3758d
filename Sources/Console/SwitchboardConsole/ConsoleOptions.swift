public import SwitchboardCall
import SwitchboardTransport

/// Who may see a console, and how much it keeps.
///
/// A view answers in JSON at its path, for programs:
///
/// ```
/// curl -H "Authorization: Bearer $TOKEN" localhost:9465/now?count=10
/// ```
public struct ConsoleOptions: Sendable {
  /// Who may see it. By default, whoever has a token that the console makes and writes to its log.
  public var access: ConsoleAccess = .madeToken
  /// What those may do who see it, besides seeing. By default, nothing.
  public var permissions: ConsolePermissions = .everyone([])
  /// The most methods of which it keeps figures and calls, on each side. Further ones count together as `other`.
  public var maxMethods = 500
  /// The fields of calls' metadata that are shown with their values, to whoever may see the page; of all others, the page shows
  /// names and lengths. By default, those that say which software calls and how it encodes messages. Fields with which others
  /// could act for their owner, such as `authorization` and `cookie`, are never shown.
  public var shownMetadata = ["user-agent", "content-type", "grpc-encoding", "grpc-accept-encoding"]
  /// The address of a trace in the system that keeps traces, with `{trace}` where its identity belongs, and `{span}` where that
  /// of the call's span does, if anywhere: `https://traces.example/trace/{trace}`. By default, traces have no link.
  public var traceLink: String?
  /// Where it logs its address, at the level `info`, and what was forgotten. By default, standard error.
  public var logger = Logger(LineLog(), minimumLevel: .info)

  /// Creates options with default values.
  public init() {}

  func check() throws(GRPCStatus) {
    try OptionRange.within(1...10_000).check(
      maxMethods,
      "ConsoleOptions.maxMethods",
      because: "the figures of each method take 8 KB"
    )
    try ShownMetadata.check(shownMetadata)
    if let traceLink { _ = try TraceLink(traceLink) }
    if case .token(let token) = access { try ConsoleToken.check(token) }
  }
}
