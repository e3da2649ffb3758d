import ConsoleMessages
import SwitchboardNetwork
import SwitchboardProtobuf

extension Switchboard_Console_V1_Validity {
  init(_ facts: CertificateFacts, at now: Google_Protobuf_Timestamp) {
    self.init()
    from = .with { $0.seconds = facts.validFrom }
    until = .with { $0.seconds = facts.validUntil }
    let left = facts.validUntil - now.seconds
    // An hour after its end, it is not valid for -1 days, rather than for 0.
    daysLeft = Int32(clamping: left >= 0 ? left / 86_400 : (left - 86_399) / 86_400)
  }
}

extension Switchboard_Console_V1_TLSState {
  /// `roots` is where the authorities are from; `nil`: nobody is trusted.
  init(_ facts: TLSFacts, roots: String?, at now: Google_Protobuf_Timestamp) {
    self.init()
    if let own = facts.certificate {
      certificate = .with {
        $0.subject = own.subject.bounded
        $0.names = own.names.prefix(Self.mostNames).map { $0.shown.bounded }
        $0.issuer = own.issuer.bounded
        $0.serial = own.serial
        $0.validity = .init(own, at: now)
      }
    }
    trustedCount = UInt32(clamping: facts.trustedCount)
    trustedSource = roots ?? "none"
    read = now - Google_Protobuf_Duration(facts.read.duration(to: .now))
    serverName = facts.serverName ?? ""
  }

  private static let mostNames = 100
}
