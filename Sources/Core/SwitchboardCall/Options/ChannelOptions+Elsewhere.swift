// What is set elsewhere, for which the compiler says where.
extension ChannelOptions {
  @available(
    *,
    unavailable,
    message:
      "calls have timeouts: set CallOptions.timeout, in a client's defaultCallOptions for all of its calls, or a timeout in serviceConfig"
  )
  public var timeout: Duration? {
    get { nil }
    set {}
  }

  @available(
    *,
    unavailable,
    message:
      "calls are compressed: set CallOptions.compression, in a client's defaultCallOptions for all of its calls"
  )
  public var compression: MessageCompression {
    get { .none }
    set {}
  }

  @available(*, unavailable, renamed: "responseSizeLimit")
  public var maxResponseSize: Int {
    get { responseSizeLimit }
    set { responseSizeLimit = newValue }
  }
}
