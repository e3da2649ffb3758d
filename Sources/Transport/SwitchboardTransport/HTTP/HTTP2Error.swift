import SwitchboardCall

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

  /// The name of a code in HTTP/2's specification, or `UNKNOWN`: peers choose the number.
  static func name(_ code: UInt32) -> String {
    let names = [
      "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
      "STREAM_CLOSED",
      "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR",
      "ENHANCE_YOUR_CALM",
      "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
    return code < names.count ? names[Int(code)] : "UNKNOWN"
  }

  /// Whether a code says that the other side broke a rule. ENHANCE_YOUR_CALM is not included: this library sends it
  /// itself, where the reason is known.
  static func blamesPeer(_ code: UInt32) -> Bool {
    switch HTTP2Error(rawValue: code) {
    case .noError, .internalError, .cancel, .enhanceYourCalm: false
    default: true
    }
  }
}

extension GRPCStatus {
  /// The peer has ended the stream of a call with this code.
  static func reset(_ code: UInt32) -> GRPCStatus {
    let note =
      code == HTTP2Error.refusedStream.rawValue
      ? ": the server did not begin the call, because it has too many or is about to end, which its log may say"
      : ""
    return GRPCStatus(
      code: GRPCStatus.Code(http2Error: code),
      message: "the stream was reset with code \(code) (\(HTTP2Error.name(code)))\(note)",
      origin: .peer
    )
  }
}
