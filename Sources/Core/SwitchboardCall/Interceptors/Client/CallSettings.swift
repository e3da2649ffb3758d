/// The settings of a call, which interceptors may change until its metadata leaves the chain.
struct CallSettings: Sendable {
  private(set) var options = CallOptions()
  private(set) var deadline: CallDeadline?
  /// The deadline that the call inherits, whatever timeout an interceptor chooses.
  private let latest: CallDeadline?
  /// The target of the call; `nil` means the transport's host.
  var host: String?
  /// The path of the call; `nil` means the method's path.
  var path: String?

  init(latest: CallDeadline? = nil) {
    self.latest = latest
    deadline = latest
  }

  /// Changes the options. A changed timeout starts again; an unchanged one keeps running.
  mutating func change(_ options: CallOptions, _ time: any CallTime) {
    if options.timeout != self.options.timeout {
      // The engine refuses a timeout below zero.
      let timeout = options.timeout.flatMap { $0 < .zero ? nil : $0 }
      deadline = .earlier(timeout.map(time.deadline(after:)), latest)
    }
    self.options = options
  }

  /// The options for the transport.
  func options(startingWith metadata: HPACKHeaders) -> CallOptions {
    var options = options
    options.initialMetadata = metadata
    return options
  }
}

/// The settings of one call, which any thread may read and change. Most calls have none, few change them, and none of the
/// others need a lock.
@usableFromInline
struct SharedCallSettings: ~Copyable, Sendable {
  private final class First: Sendable {
    let settings: CallSettings

    init(_ settings: CallSettings) { self.settings = settings }
  }

  /// The settings with which the call was made; `nil` if there were none.
  private let first: First?
  private let changed = RareValue<CallSettings>()

  init(_ options: CallOptions?, _ time: any CallTime, latest: CallDeadline?) {
    if latest != nil || options?.box != nil {
      var settings = CallSettings(latest: latest)
      if let options { settings.change(options, time) }
      first = First(settings)
    } else {
      first = nil
    }
  }

  /// Whether the settings are unchanged and empty.
  var areEmpty: Bool { first == nil && changed.isEmpty }

  var current: CallSettings { changed.value ?? first?.settings ?? CallSettings() }

  /// When the caller stops waiting. Most calls have no settings, and read this without copying them.
  var deadline: CallDeadline? { areEmpty ? nil : current.deadline }

  borrowing func change(_ change: (inout CallSettings) -> Void) {
    changed.change(from: first?.settings ?? CallSettings(), change)
  }
}
