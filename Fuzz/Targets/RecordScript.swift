import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TLSSupport

/// A script for a TLS peer: each byte of the input is a step, followed by its parameters. This way the fuzzer passes
/// the handshake at once and mutates the actions after it.
struct RecordScript {
  /// One end of a connection; the script plays the other.
  protocol End {
    /// Receives bytes and returns the response.
    mutating func take(_ bytes: [UInt8]) throws -> [UInt8]
    /// Sends bytes unprompted.
    mutating func say(_ count: Int) throws -> [UInt8]
  }

  /// The first byte: the settings of both ends.
  struct Setting {
    let peerIsServer: Bool
    let version: TLSVersion
    let protocols: [String]
    /// Whether the handshake is done before the script starts; otherwise the script must do it.
    let shakesHandsFirst: Bool
    /// A choice for the target.
    let choice: UInt8

    init(_ byte: UInt8) {
      peerIsServer = byte & 1 != 0
      version = byte & 2 == 0 ? .tls13 : .tls12
      protocols = byte & 4 == 0 ? ["h2"] : byte & 8 == 0 ? ["http/1.1"] : []
      shakesHandsFirst = byte & 16 == 0
      choice = byte >> 5
    }
  }

  let peer: TLSPeer
  private var steps: ArraySlice<UInt8>
  /// Records sent by the peer and not received yet; the first may have been received in part.
  private var onTheWay: [[UInt8]] = []
  /// All bytes sent by the peer.
  private(set) var said: [UInt8] = []
  private var stepCount = 0
  private var keysLeft: Int

  /// More would only take longer.
  private static let mostSteps = 200
  private static let mostBytes = 1 << 16

  /// The maximum number of turns of a successful handshake.
  private static let turnsOfHandshake = 4

  /// `mostKeys` limits the number of key updates, because each takes long.
  init(_ peer: TLSPeer, _ steps: ArraySlice<UInt8>, mostKeys: Int) {
    self.peer = peer
    keysLeft = mostKeys
    self.steps = steps
  }

  /// Sends bytes before the script starts.
  mutating func open(saying greeting: [UInt8], to end: inout some End) throws {
    peer.shakeHands()
    for _ in 0..<Self.turnsOfHandshake { try deliver(.max, to: &end) }
    write(greeting)
  }

  mutating func run(against end: inout some End) throws {
    while let step = steps.popFirst(), stepCount < Self.mostSteps {
      stepCount += 1
      try take(step, &end)
    }
    try deliver(.max, to: &end)
  }

  private mutating func take(_ step: UInt8, _ end: inout some End) throws {
    switch step % 20 {
    case 0: write(take(Int(next())))
    case 1: write([UInt8](repeating: next(), count: 1 + Int(next()) * 79))
    case 2: changeKeys(next(), asking: true)
    case 3: changeKeys(next(), asking: false)
    case 4: for _ in 0...next() % 8 { peer.sendTicket() }
    case 5: peer.renegotiate()
    case 6: peer.end()
    case 7, 8: try deliver(.max, to: &end)
    case 9: try deliver(1 + Int(next()), to: &end)
    case 10: peer.take(try end.take([]))
    case 11: peer.take(try end.say(1 + Int(next()) * 17))
    case 12: inject([0x15, 3, 3, 0, 2, next() % 3, next()])
    case 13: inject(take(Int(next() % 64)))
    case 14: inject([0x17 - next() % 4, 3, 3, 0, next()])
    case 15: mutate { records, index in records.remove(at: index) }
    case 16: mutate { records, index in records.insert(records[index], at: index) }
    case 17: mutate { records, index in records.append(records.remove(at: index)) }
    case 18:
      let (offset, change) = (Int(next()), next())
      mutate { records, index in
        guard !records[index].isEmpty else { return }
        records[index][offset % records[index].count] ^= change
      }
    default:
      let count = Int(next())
      mutate { records, index in records[index].removeLast(min(count, records[index].count)) }
    }
  }

  /// Updates the keys a few times, or more often than is allowed.
  private mutating func changeKeys(_ count: UInt8, asking: Bool) {
    let times = min(keysLeft, count < 255 ? Int(count % 8) + 1 : .max)
    keysLeft -= times
    for _ in 0..<times { peer.updateKey(asking: asking) }
  }

  private mutating func next() -> UInt8 { steps.popFirst() ?? 0 }

  private mutating func take(_ count: Int) -> [UInt8] {
    defer { steps = steps.dropFirst(count) }
    return Array(steps.prefix(count))
  }

  // MARK: Network

  private mutating func write(_ bytes: [UInt8]) {
    guard said.count + bytes.count < Self.mostBytes, peer.isSecure else { return }
    peer.write(bytes)
    said += bytes
  }

  private mutating func collect() {
    var rest = peer.takeOutput()[...]
    while !rest.isEmpty {
      let length =
        rest.count >= 5 ? 5 + Int(rest[rest.startIndex + 3]) << 8 + Int(rest[rest.startIndex + 4]) : 5
      onTheWay.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
  }

  private mutating func inject(_ bytes: [UInt8]) {
    collect()
    onTheWay.append(bytes)
  }

  private mutating func deliver(_ count: Int, to end: inout some End) throws {
    collect()
    var bytes: [UInt8] = []
    for record in onTheWay { bytes += record }
    onTheWay = bytes.count > count ? [Array(bytes[count...])] : []
    let answer = try end.take(Array(bytes.prefix(count)))
    if !answer.isEmpty { peer.take(answer) }
    // The response is not needed, but it uses the same keys.
    _ = peer.read()
  }

  /// Changes one of the records that were sent and not received yet.
  private mutating func mutate(_ change: (inout [[UInt8]], Int) -> Void) {
    collect()
    guard !onTheWay.isEmpty, onTheWay.count < Self.mostRecords else { return }
    change(&onTheWay, Int(next()) % onTheWay.count)
  }

  private static let mostRecords = 100
}
