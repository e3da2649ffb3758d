/// What interceptors may change about a call until its metadata has left the chain.
struct CallSettings: Sendable {
  /// What most calls have none of.
  private final class Rare: @unchecked Sendable {
    // Sendable holds because the settings are behind their call's lock, and nobody copies them.
    var host: String?
    var path: String?
    var deadline: ContinuousClock.Instant?
  }

  private(set) var options: CallOptions
  private var rare: Rare?

  init(_ options: CallOptions) {
    self.options = options
    if let timeout = options.timeout { change { $0.deadline = .now + timeout } }
  }

  /// `nil`: the transport's own.
  var host: String? {
    get { rare?.host }
    set { change { $0.host = newValue } }
  }

  /// `nil`: the method's.
  var path: String? {
    get { rare?.path }
    set { change { $0.path = newValue } }
  }

  var deadline: ContinuousClock.Instant? { rare?.deadline }

  /// A timeout that is changed starts anew; one that is not runs on.
  mutating func change(_ options: CallOptions) {
    if options.timeout != self.options.timeout {
      let deadline = options.timeout.map { .now + $0 } as ContinuousClock.Instant?
      change { $0.deadline = deadline }
    }
    self.options = options
  }

  /// The options as the transport should have them, when the call starts now.
  func options(startingWith metadata: HPACKHeaders) -> CallOptions {
    var options = options
    options.initialMetadata = metadata
    if let deadline { options.timeout = max(.zero, deadline - .now) }
    return options
  }

  private mutating func change(_ change: (Rare) -> Void) {
    let rare = rare ?? Rare()
    change(rare)
    self.rare = rare
  }
}
