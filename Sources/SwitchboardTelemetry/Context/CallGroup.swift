import SwitchboardCall

/// The calls that are made for one that is served, and end with it. Its owner locks it.
struct CallGroup: Sendable {
  private var isOver = false
  private var calls: [ObjectIdentifier: any ByteCall] = [:]

  /// Returns `false` if the group has ended, and the call must too.
  mutating func add(_ call: any ByteCall, for tracer: AnyObject) -> Bool {
    if !isOver { calls[ObjectIdentifier(tracer)] = call }
    return !isOver
  }

  /// Returns what was kept, which may be the last reference.
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
