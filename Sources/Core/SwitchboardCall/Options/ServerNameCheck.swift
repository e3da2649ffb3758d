/// Whether a server is the right one, by the names in its certificate and by the name that it was asked for. Two are the same if they
/// are one object.
package final class ServerNameCheck: Sendable, Hashable {
  package typealias Accepts = @Sendable (_ names: [PeerCertificate.AlternativeName], _ sent: String?) -> Bool

  package let accepts: Accepts

  package init(_ accepts: @escaping Accepts) {
    self.accepts = accepts
  }

  package static func == (left: ServerNameCheck, right: ServerNameCheck) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
