/// Whether a server is the right one, by the names in its certificate. Two are the same if they are one object.
package final class ServerNameCheck: Sendable, Hashable {
  package let accepts: @Sendable ([PeerCertificate.AlternativeName]) -> Bool

  package init(_ accepts: @escaping @Sendable ([PeerCertificate.AlternativeName]) -> Bool) {
    self.accepts = accepts
  }

  package static func == (left: ServerNameCheck, right: ServerNameCheck) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
