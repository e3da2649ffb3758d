import SwitchboardCall

/// The calls that a handler makes and that end with the call that it serves. The owner provides the lock.
struct CallGroup: Sendable {
  private var isOver = false
  private var calls: [ObjectIdentifier: any ByteCall] = [:]

  /// Returns `false` if the group has ended, so that the call must end too.
  mutating func add(_ call: any ByteCall, for tracer: AnyObject) -> Bool {
    if !isOver { calls[ObjectIdentifier(tracer)] = call }
    return !isOver
  }

  /// Returns the removed call, for the caller to release, because this may be the last reference.
  mutating func remove(_ tracer: AnyObject) -> (any ByteCall)? {
    calls.removeValue(forKey: ObjectIdentifier(tracer))
  }

  /// Returns the calls that must end.
  mutating func end() -> [any ByteCall] {
    isOver = true
    if calls.isEmpty { return [] }
    defer { calls = [:] }
    return Array(calls.values)
  }
}

extension GRPCStatus {
  static let servedCallEnded = GRPCStatus(
    code: .cancelled,
    message: "the call that this one was made for has ended"
  )
}
