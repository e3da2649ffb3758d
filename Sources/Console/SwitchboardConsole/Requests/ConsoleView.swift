import SwitchboardProtobuf
import SwitchboardTransport

/// Something that the console shows, which answers requests with a message.
protocol ConsoleView: Sendable {
  associatedtype Answer: Message

  /// Its path below the page's.
  static var name: String { get }
  /// What a viewer must be allowed to do, besides seeing the console.
  static var permission: ConsolePermission? { get }
  func answer(_ query: ViewQuery) async -> Answer
  /// Names what the answer waits for outside of the process; empty if for nothing. Other answers do not wait for it.
  func waitsFor(_ query: ViewQuery) -> String
}

extension ConsoleView {
  static var permission: ConsolePermission? { nil }

  func response(to query: ViewQuery) async -> HTTPPage.Response { .json(await answer(query)) }
}
