import SwitchboardCall

extension GRPCStatus {
  static let callGone = GRPCStatus(code: .cancelled, message: "the call has ended", origin: .peer)
  static let requestTooSlow = GRPCStatus(
    code: .deadlineExceeded,
    message: "the request took too long to arrive",
    origin: .peer
  )
  static let wrongRequestCount = GRPCStatus(
    code: .unimplemented,
    message: "the method takes exactly one request",
    origin: .peer
  )
  static let unannouncedCompression = GRPCStatus(
    code: .internalError,
    message: "a message is compressed, but no grpc-encoding was announced",
    origin: .peer
  )
}
