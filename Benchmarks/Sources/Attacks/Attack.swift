/// The behavior of an attacker on each of its connections, in steps prepared in advance: at run time it does little
/// but send.
struct Attack {
  enum Step {
    case send([UInt8])
    /// Waits until this many more streams have a response.
    case answers(Int)
    case anyBytes
    /// Waits until the server closes the connection or sends GOAWAY.
    case dismissal
    /// Leaves the connection open.
    case stay
  }

  let name: String
  /// The number of concurrent connections. The attacker performs one step on each in turn.
  var width = 1
  let steps: [Step]

  var speaksHTTP1: Bool { name.hasPrefix(Self.plainPrefix) }

  /// Sends the same frames repeatedly, in pieces of some kilobytes, until the server ends the connection.
  static func flood(_ name: String, after opening: [UInt8] = [], _ frame: [UInt8], count: Int = 4000)
    -> Attack
  {
    let perPiece = max(1, 8192 / frame.count)
    let piece = (0..<perPiece).flatMap { _ in frame }
    let pieces = [Step](repeating: .send(piece), count: max(1, count / perPiece))
    return Attack(name: name, steps: [.send(AttackFrame.greeting + opening)] + pieces + [.dismissal])
  }

  /// Sends frames on one stream after the other, several streams per piece.
  static func streams(
    _ name: String,
    count: Int,
    perPiece: Int,
    then wait: Step? = nil,
    finally end: Step? = .dismissal,
    _ make: (Int) -> [UInt8]
  ) -> Attack {
    var steps: [Step] = [.send(AttackFrame.greeting)]
    for first in stride(from: 0, to: count, by: perPiece) {
      let numbers = first..<min(first + perPiece, count)
      steps.append(.send(numbers.flatMap { make(2 * $0 + 1) }))
      if let wait { steps.append(wait) }
    }
    if let end { steps.append(end) }
    return Attack(name: name, steps: steps)
  }
}
