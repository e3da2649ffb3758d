import SwitchboardCall
import SwitchboardText

/// Follows which members of a service config its readers ask for. What nobody asks for is unknown: gRPC requires that it is
/// ignored, but it is probably misspelled. So no list of all members is needed, and policies of users are covered too.
///
/// It may collect mistakes, too: what is mistaken then counts as missing, and the readers go on, so that one pass finds all
/// of them. Reading anew after each would take a time that is the product of their number and the size of the config.
package final class ConfigAudit: Sendable {
  /// An object, its members, and those that were asked for, whether or not the object has them.
  private struct Object {
    let location: String
    let members: [String]
    var asked: [String] = []
    /// Whether its members' names are the user's.
    var takesAnything = false
  }

  private struct State {
    var objects: [Object] = []
    var others: [ConfigFinding] = []
    var mistakes: [ConfigFinding] = []
    var mistaken = ConfigPaths()
  }

  private let state = Locked(State())
  /// Whether a check of the whole config reads it, and not a channel.
  let collectsMistakes: Bool

  /// Unless it `collectsMistakes`, the first one ends the reading.
  package init(collectsMistakes: Bool = false) { self.collectsMistakes = collectsMistakes }

  /// Registers an object. Returns its number.
  func add(_ members: some Sequence<String>, at location: String) -> Int {
    state.withLock { state in
      state.objects.append(Object(location: location, members: members.sorted()))
      return state.objects.count - 1
    }
  }

  func asked(_ name: String, of object: Int) {
    state.withLock { state in
      guard state.objects.indices.contains(object), !state.objects[object].takesAnything else { return }
      if !state.objects[object].asked.contains(name) { state.objects[object].asked.append(name) }
    }
  }

  func takesAnything(_ object: Int) {
    state.withLock { if $0.objects.indices.contains(object) { $0.objects[object].takesAnything = true } }
  }

  /// A policy was passed over, because none has its name.
  func skipped(_ policy: String, at location: String, known: [String]) {
    let finding = ConfigFinding(
      path: location,
      name: policy,
      reason: "no load balancing policy has this name, so it is passed over",
      candidates: known,
      isCommon: true
    )
    state.withLock { $0.others.append(finding) }
  }

  /// A member is valid, and hardly what was meant.
  func doubted(_ doubt: ConfigFinding) { state.withLock { $0.others.append(doubt) } }

  /// Throws a mistake, unless mistakes are collected. Then what it is about counts as missing.
  func refuse(_ mistake: ConfigFinding) throws(GRPCStatus) {
    guard collectsMistakes else { throw .invalidServiceConfig(mistake) }
    state.withLock { state in
      guard !state.mistaken.contains(mistake.path) else { return }
      state.mistaken.insert(mistake.path)
      state.mistakes.append(mistake)
    }
  }

  /// Whether something is known to be mistaken.
  func isMistaken(_ path: String) -> Bool {
    collectsMistakes && state.withLock { $0.mistaken.contains(path) }
  }

  /// Whether something is known to be mistaken, or a part of it.
  func hasMistake(in path: String) -> Bool {
    collectsMistakes && state.withLock { $0.mistaken.hasAny(in: path) }
  }

  /// The mistakes that were collected.
  package var mistakes: [ConfigFinding] { state.withLock(\.mistakes) }

  /// What is not known, in the order in which it was read, and what is doubtful, unless it is what was left out that makes it
  /// look so.
  package var findings: [ConfigFinding] {
    state.withLock { state in
      state.objects.filter { !state.mistaken.encloses($0.location) }.flatMap(Self.unknown)
        + state.others.filter { !state.mistaken.hasAny(in: $0.path) }
    }
  }

  private static func unknown(in object: Object) -> [ConfigFinding] {
    guard !object.takesAnything else { return [] }
    return object.members.filter { !object.asked.contains($0) }.map { name in
      let known =
        object.asked.isEmpty ? "none is known there" : "known there: " + object.asked.joined(separator: ", ")
      return ConfigFinding(
        path: ConfigPath.member(name, of: object.location),
        name: name,
        reason: "is unknown and ignored; \(known)",
        candidates: object.asked
      )
    }
  }
}
