import SwitchboardCall

/// A call of any method with raw bytes, for messages without generated code.
///
/// The server's method determines how many messages go each way. The call need not know this.
///
/// ```swift
/// let request = RequestOptions(host: "", path: "/echo.Echo/Get")
/// let call = Call(request, responseHandler: bytePrinter, channel: channel)
/// try call.start()
/// try call.write(message)
/// try call.finish()
/// ```
public final class Call: Sendable {
  let call: HandledCall<[UInt8], [UInt8]>
  /// The method to call.
  public let request: RequestOptions
  /// The options that the call was made with.
  public let options: CallOptions

  init(_ request: RequestOptions, _ options: CallOptions, _ call: HandledCall<[UInt8], [UInt8]>) {
    self.request = request
    self.options = options
    self.call = call
  }
}
