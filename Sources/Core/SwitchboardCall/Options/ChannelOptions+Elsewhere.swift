// What is set elsewhere, or has another name in other libraries, for which the compiler says where it is.
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

  @available(*, unavailable, message: "set security, such as .tls(ClientTLS(trustRoots: .file(path)))")
  public var tls: ClientTLS? {
    get { nil }
    set {}
  }

  @available(
    *,
    unavailable,
    message: "a serviceConfig names it, as loadBalancingConfig; loadBalancingPolicies are those of your own"
  )
  public var loadBalancingPolicy: String? {
    get { nil }
    set {}
  }

  @available(*, unavailable, message: "a serviceConfig has the retries of its methods")
  public var retryPolicy: RetryPolicy? {
    get { nil }
    set {}
  }

  @available(*, unavailable, renamed: "responseSizeLimit")
  public var maxResponseSize: Int {
    get { responseSizeLimit }
    set { responseSizeLimit = newValue }
  }

  @available(*, unavailable, renamed: "responseSizeLimit")
  public var maxMessageSize: Int {
    get { responseSizeLimit }
    set { responseSizeLimit = newValue }
  }

  @available(*, unavailable, renamed: "keepaliveInterval")
  public var keepAliveInterval: Duration? {
    get { keepaliveInterval }
    set { keepaliveInterval = newValue }
  }

  @available(*, unavailable, renamed: "keepaliveTimeout")
  public var keepAliveTimeout: Duration {
    get { keepaliveTimeout }
    set { keepaliveTimeout = newValue }
  }
}
