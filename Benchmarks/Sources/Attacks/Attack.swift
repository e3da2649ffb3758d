/// What an attacker does on each of its connections, in steps that are made up beforehand: at work it does little but send.
struct Attack {
  enum Step {
    case send([UInt8])
    /// Waits until so many more streams are answered.
    case answers(Int)
    case anyBytes
    /// Waits for the server to close, or to say that it will.
    case dismissal
    /// Keeps the connection as it is.
    case stay
  }

  let name: String
  /// How many connections it has at once. It goes round them, a step on each.
  var width = 1
  let steps: [Step]

  /// The same frames over and over, in pieces of some kilobytes, until the server has had enough.
  static func flood(_ name: String, after opening: [UInt8] = [], _ frame: [UInt8], count: Int = 4000)
    -> Attack
  {
    let perPiece = max(1, 8192 / frame.count)
    let piece = (0..<perPiece).flatMap { _ in frame }
    let pieces = [Step](repeating: .send(piece), count: max(1, count / perPiece))
    return Attack(name: name, steps: [.send(AttackFrame.greeting + opening)] + pieces + [.dismissal])
  }

  /// Something for one stream after the other, some of them in one piece.
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
