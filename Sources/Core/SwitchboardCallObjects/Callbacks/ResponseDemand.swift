import SwitchboardCall

/// How many more responses the handler of a call has asked for, and why it gets no others.
final class ResponseDemand: Sendable {
  /// For statuses of calls that end while responses wait.
  static let clause = "wait that receiveNextMessages(_:) has not asked for"

  /// Whether the handler has to ask.
  let isLimited: Bool
  private let credit: Credit
  private let status = Locked<GRPCStatus?>(nil)

  init(isLimited: Bool) {
    self.isLimited = isLimited
    credit = Credit(isLimited ? 0 : .max)
  }

  func add(_ count: Int) { credit.add(count) }

  /// Takes one, waiting until it is asked for. Throws the status of `end` if nobody will ask any more.
  func take() async throws {
    do { try await credit.take() } catch { throw status.withLock(\.self) ?? error }
  }

  /// No more will be asked for. What was asked for can still be taken; the first status counts.
  func end(_ status: GRPCStatus) {
    self.status.withLock { $0 = $0 ?? status }
    credit.close()
  }
}
