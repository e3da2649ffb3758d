import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText

/// What a response of a control plane changes, of the resources of the authorities that use it.
struct ResponseOutcome {
  private let type: ResourceType
  private let version: String
  private let time: Google_Protobuf_Timestamp
  /// By authority.
  private let isUsing: [Bool]
  /// Whether what was known does not count any more after a fault of data.
  private let drops: Bool
  private(set) var actions: [DiscoveryState.Action] = []
  private(set) var remarks = Remarks()
  private(set) var refusals = Refusals()
  /// The authorities for which something valid has come.
  private(set) var served: Set<Int> = []
  /// The resources of which it says something.
  private var present: Set<ExactText> = []

  init(
    type: ResourceType,
    version: String,
    time: Google_Protobuf_Timestamp,
    isUsing: [Bool],
    drops: Bool
  ) {
    self.type = type
    self.version = version
    self.time = time
    self.isUsing = isUsing
    self.drops = drops
  }

  mutating func take(
    _ reads: [ResourceReader.Read],
    _ errors: [Result<ResourceError, ResourceFault>],
    by cache: inout ResourceCache
  ) {
    for (position, read) in reads.enumerated() { take(read, position, &cache) }
    for (position, error) in errors.enumerated() {
      switch error {
      case .success(let error): take(error, &cache)
      case .failure(let fault): refusals.add("resource_errors[\(position)]", position, fault)
      }
    }
    if type.isWhole { takeAbsence(&cache) }
  }

  private mutating func take(_ read: ResourceReader.Read, _ position: Int, _ cache: inout ResourceCache) {
    if case .failure(let fault) = read.result { refusals.add(read.name, position, fault) }
    guard let name = read.name, let (key, authority) = watched(name, cache) else { return }
    switch read.result {
    case .success(let resource):
      let used = ResourceRecord.Version(name: version, contents: read.contents, time: time)
      let accepted = cache.accept(key, resource, used)
      actions += accepted.actions
      if let remark = accepted.remark { remarks.add(.info, remark) }
      served.insert(authority)
    case .failure(let fault):
      let failure = ResourceRecord.Failure(
        reason: fault.description.excerpt(Refusals.longest),
        time: time,
        version: version,
        contents: read.contents
      )
      cache.note(key, .refused, failure)
      actions += cache.fail(key, .refused(key, fault), drops: drops)
    }
  }

  private mutating func take(_ error: ResourceError, _ cache: inout ResourceCache) {
    guard let (key, _) = watched(error.name, cache), let old = cache.record(key) else { return }
    let drops = drops && error.isOfData
    let status = GRPCStatus.withheld(key, error)
    let failure = ResourceRecord.Failure(reason: "\(error)", time: time, version: version)
    if old.failure?.reason != failure.reason {
      let effect = old.used == nil ? "" : "; it \(Self.effect(drops))"
      remarks.add(.warning, (status.message ?? "") + effect)
    }
    cache.note(key, .withheld(isMissing: error.isMissing), failure)
    actions += cache.fail(key, status, drops: drops)
  }

  /// A resource of which the response says something, and its authority. `nil` if nobody watches it there.
  private mutating func watched(_ name: String, _ cache: ResourceCache) -> (ResourceKey, authority: Int)? {
    let key = ResourceKey(type, name)
    present.insert(key.name)
    guard let authority = cache.authority(of: key), isUsing[authority] else { return nil }
    return (key, authority)
  }

  /// What a response lacks that has all resources is gone.
  private mutating func takeAbsence(_ cache: inout ResourceCache) {
    for (key, wasKnown) in cache.delete(type, except: present, of: isUsing) {
      if wasKnown { remarks.add(.warning, "\(key) was deleted, and \(Self.effect(drops))") }
      let status = GRPCStatus.missing(key)
      cache.note(key, .missing, .init(reason: status.message ?? "", time: time, version: version))
      actions += cache.fail(key, status, drops: drops)
    }
  }

  /// What becomes of a resource that was used.
  private static func effect(_ drops: Bool) -> String { drops ? "is not used any more" : "is still used" }
}
