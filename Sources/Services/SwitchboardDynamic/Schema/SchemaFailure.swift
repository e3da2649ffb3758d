import Switchboard

/// Why there are no descriptors, or why they are of no use.
package struct SchemaFailure: Error, Sendable, CustomStringConvertible {
  package enum Reason: Sendable {
    /// The server has no reflection service.
    case noReflection
    /// The descriptors are wrong, or too many.
    case data
    /// The reflection service refuses, or leaves questions unanswered.
    case refusal(GRPCStatus.Code)
    /// The call of the reflection service failed.
    case call(GRPCStatus)
  }

  package let reason: Reason
  /// What happened, with the name of the server. It may have text of the server's.
  package let description: String

  package init(_ reason: Reason, _ description: String) {
    self.reason = reason
    self.description = description
  }
}
