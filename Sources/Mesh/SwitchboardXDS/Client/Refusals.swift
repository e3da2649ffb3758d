import SwitchboardText

/// The reasons of one refusal, of which no more are named than anybody reads.
struct Refusals {
  /// The longest text of a refusal, in bytes.
  static let longest = 4096
  private static let mostNamed = 64

  private(set) var text: String?
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func add(_ name: String?, _ position: Int, _ fault: ResourceFault) {
    count += 1
    let subject = name.map { $0.excerpt } ?? "resource \(position)"
    let reason = "\(subject): \(fault.description.excerpt(500))"
    guard let known = text else {
      text = reason
      return
    }
    guard count <= Self.mostNamed, known.utf8.count + reason.utf8.count < Self.longest else { return }
    text = "\(known); \(reason)"
  }
}
