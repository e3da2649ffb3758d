import SwitchboardProtobuf
import SwitchboardTransport

/// Something that the console shows, which answers requests with a message.
protocol ConsoleView: Sendable {
  associatedtype Answer: Message

  /// Its path below the page's.
  static var name: String { get }
  func answer(_ query: ViewQuery) async -> Answer
}

extension ConsoleView {
  func response(to query: ViewQuery) async -> HTTPPage.Response { .json(await answer(query)) }
}
