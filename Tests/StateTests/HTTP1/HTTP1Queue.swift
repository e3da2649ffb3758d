/// What one side of HTTP/1.1 is about to send, in pieces of any size, and what each part of it changes once it was sent.
struct HTTP1Queue {
  private struct Part {
    var bytes: ArraySlice<UInt8>
    let effect: (() -> Void)?
    let isJoined: Bool
  }

  private var parts: [Part] = []

  var isEmpty: Bool { parts.isEmpty }

  /// Appends bytes, the last of which has this effect. If they are joined, no piece ends before them.
  mutating func add(_ bytes: [UInt8], isJoined: Bool = false, effect: (() -> Void)? = nil) {
    parts.append(Part(bytes: bytes[...], effect: effect, isJoined: isJoined))
  }

  mutating func add(_ text: String, isJoined: Bool = false, effect: (() -> Void)? = nil) {
    add(Array(text.utf8), isJoined: isJoined, effect: effect)
  }

  /// Appends something that happens before the first byte of what follows.
  mutating func add(effect: @escaping () -> Void) { add([], effect: effect) }

  /// Appends a chunk of a body. Before its first byte, and with its last, something happens.
  mutating func add(chunk bytes: [UInt8], before: @escaping () -> Void = {}, effect: (() -> Void)? = nil) {
    guard !bytes.isEmpty else { return }
    add(effect: before)
    add(String(bytes.count, radix: 16) + "\r\n")
    add(bytes, effect: effect)
    add("\r\n")
  }

  /// Removes and returns the next piece, of about this size, and the effects that it has.
  mutating func take(_ count: Int) -> (piece: [UInt8], effects: [() -> Void]) {
    var (piece, effects) = ([UInt8](), [() -> Void]())
    while let part = parts.first, piece.count < count || part.isJoined {
      let taken = part.isJoined ? part.bytes : part.bytes.prefix(count - piece.count)
      piece += taken
      parts[0].bytes = part.bytes.dropFirst(taken.count)
      guard parts[0].bytes.isEmpty else { break }
      if let effect = part.effect { effects.append(effect) }
      parts.removeFirst()
    }
    return (piece, effects)
  }
}
