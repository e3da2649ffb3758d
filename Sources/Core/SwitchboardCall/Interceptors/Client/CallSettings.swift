import Synchronization

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

  /// The same for a call whose metadata has left the chain: only what interceptors read changes. Returns the names of the
  /// other options that differ.
  mutating func changeLate(_ options: CallOptions) -> [String] {
    let lost = options.namesOfChanges(from: self.options)
    self.options.takeNotes(of: options)
    return lost
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
  /// Whether the call was made of the settings, so that changes have no effect on it.
  private let areTaken = Atomic(false)

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

  /// The call takes the settings as they are.
  borrowing func take() { areTaken.store(true, ordering: .relaxed) }

  /// The call may be made again, with other settings.
  borrowing func giveBack() { areTaken.store(false, ordering: .relaxed) }

  /// Changes the options. Returns the names of those that come too late.
  borrowing func change(_ options: CallOptions, _ time: any CallTime) -> [String] {
    let isLate = areTaken.load(ordering: .relaxed)
    var lost: [String] = []
    change { settings in
      if isLate { lost = settings.changeLate(options) } else { settings.change(options, time) }
    }
    return lost
  }

  /// Changes the host or the path, by its name. Returns the name if it comes too late.
  borrowing func change(_ name: String, _ change: (inout CallSettings) -> Void) -> [String] {
    guard !areTaken.load(ordering: .relaxed) else { return [name] }
    self.change(change)
    return []
  }

  private borrowing func change(_ change: (inout CallSettings) -> Void) {
    changed.change(from: first?.settings ?? CallSettings(), change)
  }
}
