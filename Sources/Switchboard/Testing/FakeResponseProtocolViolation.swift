/// A test has sent a part of a response that cannot follow what it has sent before.
public struct FakeResponseProtocolViolation: Error, Hashable, CustomStringConvertible {
  /// What was sent, and why it cannot be.
  public let description: String

  init(_ description: String) { self.description = description }
}
