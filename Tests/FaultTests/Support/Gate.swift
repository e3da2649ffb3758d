/// The point in a call at which a relay stops forwarding: it is reached when the bytes after it arrive.
struct Gate: Sendable, Equatable {
  enum Direction: Sendable {
    case toServer, toClient
  }

  enum Point: Sendable, Equatable {
    /// Before the first byte, in any protocol.
    case firstByte
    /// Before the (n+1)-th frame of a type on the streams of calls, in plaintext HTTP/2.
    case frame(UInt8, after: Int)
  }

  static let data: UInt8 = 0
  static let headers: UInt8 = 1

  var direction: Direction
  var point: Point
}

/// Finds the point of a gate in the bytes of one direction.
struct GateScanner {
  private enum Expected {
    case preface, header, payload
  }

  private let point: Gate.Point
  private var expected: Expected
  private var left: Int
  private var header: [UInt8] = []
  private var seen = 0

  init(_ gate: Gate) {
    point = gate.point
    // The client preface is not a frame.
    expected = gate.direction == .toServer ? .preface : .header
    left = gate.direction == .toServer ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count : 9
  }

  /// Splits received bytes into those that may pass and those that may not; the latter are `nil` before the gate is
  /// reached. The start of a frame is kept until its type is known.
  mutating func split(_ bytes: [UInt8]) -> (passing: [UInt8], held: [UInt8]?) {
    guard case .frame(let type, let count) = point else { return ([], bytes) }
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
