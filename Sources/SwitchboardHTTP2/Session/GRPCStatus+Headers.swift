import SwitchboardCall

extension GRPCStatus {
  /// Names the largest field, which is usually the reason.
  static func headersTooLargeToSend(_ headers: HeaderWriter, limit: Int) -> GRPCStatus {
    var message = "the call's metadata takes \(headers.listSize) bytes, of \(limit) that can be sent"
    if let largest = headers.largestField {
      message += "; the largest is \(largest.name), with a value of \(largest.valueByteCount) bytes"
    }
    return GRPCStatus(code: .resourceExhausted, message: message, origin: .user)
  }

  static let headersNotSent = GRPCStatus(
    code: .resourceExhausted,
    message: "the call's metadata cannot be sent",
    origin: .user
  )
}
