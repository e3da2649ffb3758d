// What interceptors make of a call, and go by.
extension CallOptions {
  /// Makes interceptors for the call, in this order, before all others. `nil`: those of the client; a call's own take
  /// their place.
  public var interceptorFactories: [any InterceptorFactory]? {
    get { box?.choices.interceptorFactories }
    set { choose { $0.interceptorFactories = newValue } }
  }

  /// Whether the call may be repeated, or answered from a cache.
  public var safety: RequestOptions.Safety {
    get { box?.choices.safety ?? .default }
    set { choose { $0.safety = newValue } }
  }
}
