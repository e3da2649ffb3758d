import Synchronization

/// What interceptors may change about a call until its metadata leaves the chain.
struct CallSettings: Sendable {
  /// What few calls have.
  private final class Rare: Sendable {
    let host: String?
    let path: String?
    let deadline: CallDeadline?

    init(_ host: String?, _ path: String?, _ deadline: CallDeadline?) {
      self.host = host
      self.path = path
      self.deadline = deadline
    }
  }

  private(set) var options: CallOptions
  private var rare: Rare?

  init(_ options: CallOptions, _ deadline: CallDeadline?) {
    self.options = options
    if let deadline { rare = Rare(nil, nil, deadline) }
  }

  var areEmpty: Bool { options.box == nil && rare == nil }

  /// `nil`: the transport's host.
  var host: String? {
    get { rare?.host }
    set { rare = Rare(newValue, path, deadline) }
  }

  /// `nil`: the method's path.
  var path: String? {
    get { rare?.path }
    set { rare = Rare(host, newValue, deadline) }
  }

  private(set) var deadline: CallDeadline? {
    get { rare?.deadline }
    set { rare = Rare(host, path, newValue) }
  }

  /// A changed timeout starts again; an unchanged one keeps running.
  mutating func change(_ options: CallOptions, _ time: any CallTime) {
    if options.timeout != self.options.timeout { deadline = options.timeout.map(time.deadline(after:)) }
    self.options = options
  }

  /// The options for the transport.
  func options(startingWith metadata: HPACKHeaders) -> CallOptions {
    var options = options
    options.initialMetadata = metadata
    return options
  }
}

/// The settings of one call, which any thread may read and change. Most calls never change them and need no lock.
@usableFromInline
struct SharedCallSettings: ~Copyable, Sendable {
  private let first: CallSettings
  private let latest = Locked<CallSettings?>(nil)
  private let isChanged = Atomic(false)

  init(_ options: CallOptions, _ deadline: CallDeadline?) {
    first = CallSettings(options, deadline)
  }

  /// Whether the settings are unchanged and choose nothing.
  var areEmpty: Bool { first.areEmpty && !isChanged.load(ordering: .acquiring) }

  var current: CallSettings {
    guard isChanged.load(ordering: .acquiring) else { return first }
    return latest.withLock { $0 } ?? first
  }

  /// When the caller stops waiting. Most calls have no settings, and read this without a copy of them.
  var deadline: CallDeadline? { areEmpty ? nil : current.deadline }

  borrowing func change(_ change: (inout CallSettings) -> Void) {
    latest.withLock { latest in
      var settings = latest ?? first
      change(&settings)
      latest = settings
    }
    isChanged.store(true, ordering: .releasing)
  }
}
