/// The HTTP/2 error codes that this library sends or looks for.
enum HTTP2Error: UInt32 {
  case noError = 0x0
  case protocolError = 0x1
  case internalError = 0x2
  case refusedStream = 0x7
  case cancel = 0x8
  case enhanceYourCalm = 0xb
  case inadequateSecurity = 0xc
}
