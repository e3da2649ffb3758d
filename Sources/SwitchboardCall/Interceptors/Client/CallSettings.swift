/// What interceptors may change about a call until its metadata has left the chain.
struct CallSettings: Sendable {
  private(set) var options: CallOptions
  /// `nil`: the transport's own.
  var host: String?
  /// `nil`: the method's.
  var path: String?
  private(set) var deadline: ContinuousClock.Instant?

  init(_ options: CallOptions) {
    self.options = options
    deadline = options.timeout.map { .now + $0 }
  }

  /// A timeout that is changed starts anew; one that is not runs on.
  mutating func change(_ options: CallOptions) {
    if options.timeout != self.options.timeout { deadline = options.timeout.map { .now + $0 } }
    self.options = options
  }

  /// The options as the transport should have them, when the call starts now.
  func options(startingWith metadata: HPACKHeaders) -> CallOptions {
    var options = options
    options.initialMetadata = metadata
    if let deadline { options.timeout = max(.zero, deadline - .now) }
    return options
  }
}
