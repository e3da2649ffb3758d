import SwitchboardProtobuf

/// Something that the console shows, which answers requests with a message.
protocol ConsoleView: Sendable {
  associatedtype Answer: Message

  /// Its path below the page's.
  static var name: String { get }
  func answer(_ query: ViewQuery) async -> Answer
}

extension ConsoleView {
  /// The answer in JSON.
  func json(_ query: ViewQuery) async throws -> [UInt8] { try await answer(query).jsonUTF8Bytes() }
}
