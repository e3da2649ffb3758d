import SwitchboardCall
import SwitchboardProtobuf

/// Something that the console does for somebody, asked for by a message in JSON.
protocol ConsoleAction: Sendable {
  associatedtype Request: Message
  associatedtype Answer: Message

  /// Its path below the page's.
  static var name: String { get }
  static var permission: ConsolePermission { get }
  /// The largest request, in bytes.
  static var bodyLimit: Int { get }

  /// Whether views may show something else once it was done.
  static var changesViews: Bool { get }

  /// What it will do, for the log: not the secrets that a request may have. `nil` if that is not worth an entry.
  func summary(of request: Request) -> String?
  /// Why it was not done, if the answer says so.
  func refusal(in answer: Answer) -> String?
  /// Throws a status whose code and message the page shows.
  func perform(_ request: Request) async throws(GRPCStatus) -> Answer
}

extension ConsoleAction {
  static var bodyLimit: Int { 64 * 1024 }
  static var changesViews: Bool { true }

  func refusal(in answer: Answer) -> String? { nil }
}
