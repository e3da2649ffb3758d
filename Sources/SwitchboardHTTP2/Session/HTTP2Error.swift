/// The HTTP/2 error codes that this library sends or checks.
enum HTTP2Error: UInt32 {
  case noError = 0x0
  case protocolError = 0x1
  case internalError = 0x2
  case streamClosed = 0x5
  case refusedStream = 0x7
  case cancel = 0x8
  case enhanceYourCalm = 0xb
  case inadequateSecurity = 0xc

  /// Whether a code says that the other side broke a rule. ENHANCE_YOUR_CALM is not included: this library sends it
  /// itself, where the reason is known.
  static func blamesPeer(_ code: UInt32) -> Bool {
    switch HTTP2Error(rawValue: code) {
    case .noError, .internalError, .cancel, .enhanceYourCalm: false
    default: true
    }
  }
}
