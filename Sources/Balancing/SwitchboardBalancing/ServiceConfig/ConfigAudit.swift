import SwitchboardCall
import SwitchboardText

/// Follows which members of a service config its readers ask for. What nobody asks for is unknown: gRPC requires that it is
/// ignored, but it is probably misspelt. So no list of all members is needed, and policies of users are covered too.
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
  }

  private let state = Locked(State())
  /// The paths of members that are known to be mistaken. They count as missing, so that what follows them is read too.
  let mistaken: Set<String>

  package init(mistaken: Set<String> = []) { self.mistaken = mistaken }

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

  /// A member is valid, and hardly what was meant, unless it is what was left out that makes it look so.
  func doubted(_ doubt: ConfigFinding) {
    guard !hasMistake(in: doubt.path) else { return }
    state.withLock { $0.others.append(doubt) }
  }

  /// Whether something is known to be mistaken, or a part of it.
  func hasMistake(in path: String) -> Bool {
    mistaken.contains { ConfigPath.contains(path, $0) }
  }

  /// What is not known, in the order in which it was read.
  package var findings: [ConfigFinding] {
    state.withLock { state in
      state.objects.flatMap(Self.unknown) + state.others
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
