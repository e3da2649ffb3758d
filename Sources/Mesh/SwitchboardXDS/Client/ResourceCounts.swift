import SwitchboardText

/// How many resources a client has of each kind, by what it knows of them (gRFC A78).
struct ResourceCounts: Sendable {
  /// Resources that count together.
  struct Group: Hashable, Sendable {
    let type: ResourceType
    /// The owner in `xdstp:` names; `nil` for plain names.
    let authority: ExactText?
    let state: CacheState
  }

  /// A group stays when nothing is in it any more.
  private(set) var groups: [Group: Int] = [:]

  /// A resource becomes known, or changes, or is not watched any more.
  mutating func move(_ key: ResourceKey, from old: ResourceRecord?, to new: ResourceRecord?) {
    let (before, after) = (old.map(CacheState.init), new.map(CacheState.init))
    guard before != after else { return }
    let authority = XDSBootstrap.owner(of: key.name.text).map { ExactText($0) }
    if let before { groups[Group(type: key.type, authority: authority, state: before), default: 0] -= 1 }
    if let after { groups[Group(type: key.type, authority: authority, state: after), default: 0] += 1 }
  }
}

/// What a client knows of a resource, as the label `grpc.xds.cache_state` says it (gRFCs A78 and A88).
enum CacheState: String, Hashable, Sendable {
  case requested
  case missing = "does_not_exist"
  case missingButUsed = "does_not_exist_but_cached"
  case accepted = "acked"
  case refused = "nacked"
  case refusedButUsed = "nacked_but_cached"
  case withheld = "received_error"
  case withheldButUsed = "received_error_but_cached"
  case late = "timeout"

  init(_ record: ResourceRecord) {
    let isUsed = record.used != nil
    self =
      switch record.status {
      case .requested: .requested
      case .missing: isUsed ? .missingButUsed : .missing
      case .accepted: .accepted
      case .refused: isUsed ? .refusedButUsed : .refused
      case .withheld: isUsed ? .withheldButUsed : .withheld
      case .late: .late
      }
  }
}
