/// A test sent a part of a response out of order.
public struct FakeResponseProtocolViolation: Error, Hashable, CustomStringConvertible {
  /// What was sent, and why it is not allowed.
  public let description: String

  init(_ description: String) { self.description = description }
}
