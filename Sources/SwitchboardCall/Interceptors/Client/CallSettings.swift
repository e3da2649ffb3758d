/// The settings of a call, which interceptors may change until its metadata leaves the chain.
struct CallSettings: Sendable {
  /// The settings that few calls have.
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

  /// The target of the call; `nil` means the transport's host.
  var host: String? {
    get { rare?.host }
    set { rare = Rare(newValue, path, deadline) }
  }

  /// The path of the call; `nil` means the method's path.
  var path: String? {
    get { rare?.path }
    set { rare = Rare(host, newValue, deadline) }
  }

  private(set) var deadline: CallDeadline? {
    get { rare?.deadline }
    set { rare = Rare(host, path, newValue) }
  }

  /// Changes the options. A changed timeout starts again; an unchanged one keeps running.
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
  private let changed = RareValue<CallSettings>()

  init(_ options: CallOptions, _ deadline: CallDeadline?) { first = CallSettings(options, deadline) }

  /// Whether the settings are unchanged and empty.
  var areEmpty: Bool { first.areEmpty && changed.value == nil }

  var current: CallSettings { changed.value ?? first }

  /// When the caller stops waiting. Most calls have no settings, and read this without copying them.
  var deadline: CallDeadline? { areEmpty ? nil : current.deadline }

  borrowing func change(_ change: (inout CallSettings) -> Void) {
    changed.change(from: first, change)
  }
}
