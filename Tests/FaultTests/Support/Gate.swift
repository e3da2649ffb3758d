/// Where a relay stops carrying: a place in a call, which is reached when the bytes behind it want to pass.
struct Gate: Sendable, Equatable {
  enum Direction: Sendable {
    case toServer, toClient
  }

  enum Place: Sendable, Equatable {
    /// Before the first byte, of whatever protocol.
    case firstByte
    /// Before so many frames of a type have passed, and one more: of those of calls, by plaintext HTTP/2.
    case frame(UInt8, after: Int)
  }

  static let data: UInt8 = 0
  static let headers: UInt8 = 1

  var direction: Direction
  var place: Place
}

/// Finds a gate's place in the bytes that go one way.
struct GateScanner {
  private enum Expected {
    case preface, header, payload
  }

  private let place: Gate.Place
  private var expected: Expected
  private var left: Int
  private var header: [UInt8] = []
  private var seen = 0

  init(_ gate: Gate) {
    place = gate.place
    // What a client says first is no frame.
    expected = gate.direction == .toServer ? .preface : .header
    left = gate.direction == .toServer ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count : 9
  }

  /// Splits what came into what may pass and what may not, which is `nil` before the place is reached. The beginning of
  /// a frame is kept until it is known what frame it is.
  mutating func split(_ bytes: [UInt8]) -> (passing: [UInt8], held: [UInt8]?) {
    guard case .frame(let type, let count) = place else { return ([], bytes) }
    var passing: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let taken = rest.prefix(left)
      rest = rest.dropFirst(taken.count)
      left -= taken.count
      if expected == .header { header += taken } else { passing += taken }
      guard left == 0 else { break }
      guard expected == .header else {
        expectHeader()
        continue
      }
      let isOfCall = header[5...].contains { $0 != 0 }
      if header[3] == type, isOfCall {
        if seen == count { return (passing, header + rest) }
        seen += 1
      }
      passing += header
      expected = .payload
      left = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
      if left == 0 { expectHeader() }
    }
    return (passing, nil)
  }

  private mutating func expectHeader() {
    expected = .header
    header = []
    left = 9
  }
}
