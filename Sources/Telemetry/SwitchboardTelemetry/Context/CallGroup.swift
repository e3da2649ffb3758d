import SwitchboardCall

/// The calls that a handler makes and that end with the call that it serves. The owner provides the lock.
struct CallGroup: Sendable {
  private var isOver = false
  /// Optional, since most have none.
  private var calls: [ObjectIdentifier: any ByteCall]?

  /// Returns `false` if the group has ended, so that the call must end too.
  mutating func add(_ call: any ByteCall, for tracer: AnyObject) -> Bool {
    guard !isOver else { return false }
    if calls == nil { calls = [:] }
    calls?[ObjectIdentifier(tracer)] = call
    return true
  }

  /// Returns the removed call, for the caller to release, because this may be the last reference.
  mutating func remove(_ tracer: AnyObject) -> (any ByteCall)? {
    calls?.removeValue(forKey: ObjectIdentifier(tracer))
  }

  /// Returns the calls that must end.
  mutating func end() -> [any ByteCall] {
    isOver = true
    return calls.take().map { Array($0.values) } ?? []
  }
}

extension GRPCStatus {
  static let servedCallEnded = GRPCStatus(
    code: .cancelled,
    message: "the call that this one was made for has ended"
  )
}
