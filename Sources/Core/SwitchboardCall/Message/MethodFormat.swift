/// The form of one method's messages in a protocol that has other parts than a message, such as a path: it has marshallers of
/// these, which may use the method's own.
package protocol MethodFormat: Sendable {
  /// The marshaller of requests.
  func requests<Own: Marshaller>(over own: Own) -> any Marshaller<Own.Message>

  /// The marshaller of responses.
  func responses<Own: Marshaller>(over own: Own) -> any Marshaller<Own.Message>
}

/// What a marshaller throws about a message that is its sender's fault, for a protocol that can say so: the call ends with
/// this status. Any other error ends it with `INTERNAL`.
package struct RefusedMessage: Error {
  package let status: GRPCStatus

  package init(_ status: GRPCStatus) { self.status = status }
}
