import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

/// Which calls are delayed and fail, so that operators see what follows (gRFC A33).
struct FaultRule: Hashable, Sendable {
  /// A share of all calls.
  struct Share: Hashable, Sendable {
    var numerator = 0
    /// How many calls of a million one of the numerator is.
    var scale = 0

    /// Of a million calls, with a numerator that may be less than that of the rule.
    func millionths(_ wanted: Int? = nil) -> Int {
      min(min(numerator, wanted ?? numerator) * scale, 1_000_000)
    }
  }

  enum Delay: Hashable, Sendable {
    case fixed(Duration)
    /// The metadata of the call say it.
    case ofMetadata
  }

  enum Abort: Hashable, Sendable {
    case code(GRPCStatus.Code)
    /// The metadata of the call say it.
    case ofMetadata
  }

  var delay: Delay?
  var delayShare = Share()
  var abort: Abort?
  var abortShare = Share()
  /// The most calls that have a fault at once, in the whole process.
  var mostActive: Int?

  /// Whether no call has a fault.
  var isEmpty: Bool {
    (delay == nil || delayShare.millionths() == 0) && (abort == nil || abortShare.millionths() == 0)
  }
}

/// A filter of a listener that has calls fail. Parts of routes may have other rules for the same name.
struct FaultFilter: Hashable, Sendable {
  var name: ExactText
  var rule: FaultRule
}

extension FaultRule {
  /// No call waits longer.
  private static let longestDelay = Duration.seconds(365 * 24 * 3600)

  init(_ packed: Google_Protobuf_Any) throws(ResourceFault) {
    self.init()
    let message = try packed.contents(Envoy_Extensions_Filters_Http_Fault_V3_HTTPFault.self)
    if message.hasDelay {
      try part("delay") { () throws(ResourceFault) in
        switch message.delay.faultDelaySecifier {
        case .fixedDelay(let length):
          delay = .fixed(min(try length.length("fixed_delay"), Self.longestDelay))
        case .headerDelay: delay = .ofMetadata
        case nil: break
        }
        delayShare = try message.delay.percentage.share("percentage")
      }
    }
    if message.hasAbort {
      try part("abort") { () throws(ResourceFault) in
        switch message.abort.errorType {
        case .httpStatus(let status): abort = .code(.init(httpStatus: Int(status)))
        case .grpcStatus(let number):
          guard let code = GRPCStatus.Code(rawValue: Int(number)) else {
            throw ResourceFault("grpc_status", "is no status: \(number)")
          }
          abort = .code(code)
        case .headerAbort: abort = .ofMetadata
        case nil: break
        }
        abortShare = try message.abort.percentage.share("percentage")
      }
    }
    if message.hasMaxActiveFaults { mostActive = Int(message.maxActiveFaults.value) }
  }
}

extension Envoy_Type_V3_FractionalPercent {
  fileprivate func share(_ path: String) throws(ResourceFault) -> FaultRule.Share {
    FaultRule.Share(numerator: Int(numerator), scale: try scale(path))
  }
}
