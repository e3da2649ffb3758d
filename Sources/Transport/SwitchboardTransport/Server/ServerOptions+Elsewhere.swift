import SwitchboardCall

// What is set elsewhere, or has another name in other libraries, for which the compiler says where it is.
extension ServerOptions {
  @available(
    *,
    unavailable,
    message:
      "handlers compress their responses: call context.setCompression(_:); compressed requests are accepted without an option"
  )
  public var compression: MessageCompression {
    get { .none }
    set {}
  }

  @available(
    *,
    unavailable,
    message:
      "clients limit responses: set ChannelOptions.responseSizeLimit there; maxRequestSize limits requests"
  )
  public var maxResponseSize: Int {
    get { .max }
    set {}
  }

  @available(
    *,
    unavailable,
    message:
      "each call has interceptors of its own, which factories make: set interceptorFactories, or interceptors of a provider for its service alone"
  )
  public var interceptors: [any ServerInterceptorFactory] {
    get { [] }
    set {}
  }

  @available(*, unavailable, renamed: "maxRequestSize")
  public var maxMessageSize: Int {
    get { maxRequestSize }
    set { maxRequestSize = newValue }
  }

  @available(*, unavailable, renamed: "keepaliveInterval")
  public var keepAliveInterval: Duration {
    get { keepaliveInterval }
    set { keepaliveInterval = newValue }
  }

  @available(*, unavailable, renamed: "keepaliveTimeout")
  public var keepAliveTimeout: Duration {
    get { keepaliveTimeout }
    set { keepaliveTimeout = newValue }
  }
}
