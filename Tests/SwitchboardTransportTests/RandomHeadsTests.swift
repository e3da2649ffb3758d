import HTTP2TestSupport
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Random sequences of frames with valid and hostile blocks of headers, which a session must receive as one that decodes
/// each of them.
@Suite struct RandomHeadsTests {
  @Test(arguments: 0..<16 as Range<UInt64>) func headsAreReceivedAsIfAllWereDecoded(_ seed: UInt64) throws {
    var repeated = 0
    for round in 0..<64 as Range<UInt64> {
      var client = RandomClient(seed: seed << 8 | round)
      var options = client.options
      let pieces = client.pieces
      let taken = try Reception(of: pieces, options)
      options.takesShortcuts = false
      let decoded = try Reception(of: pieces, options)
      #expect(taken == decoded, "seed \(seed), round \(round)")
      repeated += taken.streams.count(where: \.isRepeated)
    }
    // The test would show nothing if there were none.
    #expect(repeated > 20)
  }
}

/// A client that repeats a few blocks among others.
private struct RandomClient: RandomNumberGenerator {
  private typealias Kind = FramePeer.Kind

  private var state: UInt64
  private var stream: UInt32 = 1
  private(set) var options = Reception.Options()

  init(seed: UInt64) {
    state = seed
    options.takesTraceParents = Bool.random(using: &self)
    options.maxHeaderListSize = [16 * 1024, 16 * 1024, 400, 300, 200].randomElement(using: &self) ?? 0
    options.headerTableSize = once(in: 4) ? [0, 200].randomElement(using: &self) : nil
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  /// True once in so many times.
  private mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  /// What it sends, in the pieces in which that arrives.
  var pieces: [[UInt8]] {
    mutating get {
      var pieces = [request(first)]
      // Blocks that it repeats.
      let blocks = (0..<Int.random(in: 1...3, using: &self)).map { _ in block }
      for _ in 0..<40 {
        let frames =
          once(in: 8) ? other : request(once(in: 8) ? block : blocks.randomElement(using: &self) ?? [])
        if once(in: 2) { pieces.append(frames) } else { pieces[pieces.count - 1] += frames }
      }
      guard once(in: 3) else { return pieces }
      let bytes = pieces.flatMap(\.self)
      let size = Int.random(in: 1...200, using: &self)
      return stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }
  }

  // MARK: Blocks

  /// Adds the fields that others refer to.
  private let first: [UInt8] = {
    var block: [UInt8] = [0x83, 0x86]
    for (form, name, value) in [
      (0x44, "", "/a/B"), (0x41, "", "x"), (0x40, "te", "trailers"), (0x40, "a", "b"),
    ] as [(UInt8, String, String)] {
      block.append(form)
      if !name.isEmpty { block += FramePeer.string(name) }
      block += FramePeer.string(value)
    }
    return block
  }()

  private var block: [UInt8] {
    mutating get {
      var block: [UInt8] = once(in: 60) ? [0x20] : once(in: 20) ? [0x3f, 0xe1, 0x1f] : []
      block += [0x83, 0x86, once(in: 6) ? 0xc1 : 0x84]
      block += once(in: 6) ? [0xc0] : [0x01] + FramePeer.string("x")
      for _ in 0..<Int.random(in: 0...4, using: &self) { block += field }
      if once(in: 4) {
        let length = ["0", "5", "05", "6"].randomElement(using: &self) ?? ""
        block += FramePeer.block([("content-length", length)])
      }
      if once(in: 40) {
        let ends: [[UInt8]] = [[0xc0], [0x84], [0x80], [0x7f], [0x00, 5]]
        block += ends.randomElement(using: &self) ?? []
      }
      return block
    }
  }

  private var field: [UInt8] {
    mutating get {
      let names = ["a", "c", "n-bin", "cookie", "x-long", "te", "host", "A", ":path", "connection"]
      let values = ["", "b", "c", "trailers", "\u{1}", String(repeating: "v", count: 90)]
      var form: UInt8 = once(in: 12) ? 0x40 : once(in: 2) ? 0 : 0x10
      if once(in: 3) { return [UInt8.random(in: 0xbe...0xc1, using: &self)] }
      // Mostly names that are allowed.
      let number = once(in: 10) ? names.count : 5
      if once(in: 20) { form |= 1 }
      var field = [form]
      if form & 1 == 0 { field += FramePeer.string(names[Int.random(in: 0..<number, using: &self)]) }
      field += FramePeer.string(values.randomElement(using: &self) ?? "")
      return field
    }
  }

  private var traceParent: [UInt8] {
    mutating get {
      let digits = String(Int.random(in: 10...99, using: &self))
      let value = "00-4bf92f3577b34da6a3ce929d0e0e47\(digits)-00f067aa0ba902b7-01"
      return FramePeer.block([("traceparent", value)])
    }
  }

  // MARK: Frames

  private mutating func request(_ block: [UInt8]) -> [UInt8] {
    var block = block
    if once(in: 3) { block += traceParent }
    let ends = once(in: 3)
    defer { stream += once(in: 10) ? 4 : 2 }
    return head(stream, block, ends: ends) + (ends ? [] : body)
  }

  private mutating func head(_ id: UInt32, _ block: [UInt8], ends: Bool) -> [UInt8] {
    let flags: UInt8 = ends ? 1 : 0
    switch Int.random(in: 0..<40, using: &self) {
    case 0: return FramePeer.frame(Kind.headers, flags | 12, id, [2] + block + [7, 7])
    case 1: return FramePeer.frame(Kind.headers, flags | 0x24, id, [0, 0, 0, 0, 9] + block)
    case 2:
      let count = Int.random(in: 0...block.count, using: &self)
      return FramePeer.frame(Kind.headers, flags, id, Array(block[..<count]))
        + FramePeer.frame(Kind.continuation, 4, id, Array(block[count...]))
    case 3: return FramePeer.frame(Kind.headers, flags | 4 | 0x42, id, block)
    default: return FramePeer.frame(Kind.headers, flags | 4, id, block)
    }
  }

  /// The rest of a request.
  private var body: [UInt8] {
    mutating get {
      let data = [UInt8](repeating: 1, count: once(in: 4) ? Int.random(in: 0...7, using: &self) : 5)
      guard once(in: 8) else { return FramePeer.frame(Kind.data, 1, stream, data) }
      let trailers = once(in: 2) ? FramePeer.block([("t", "u")]) : field
      return FramePeer.frame(Kind.data, 0, stream, data) + head(stream, trailers, ends: true)
    }
  }

  /// Frames that are no requests, or repeat a number.
  private var other: [UInt8] {
    mutating get {
      let earlier = UInt32.random(in: 0...stream, using: &self)
      switch Int.random(in: 0..<8, using: &self) {
      case 0: return FramePeer.frame(Kind.settings, 1, 0, [])
      case 1:
        let size = FramePeer.number(UInt32.random(in: 0...5000, using: &self))
        return FramePeer.frame(Kind.settings, 0, 0, [0, 1] + size)
      case 2: return FramePeer.frame(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      case 3: return FramePeer.frame(Kind.resetStream, 0, stream > 2 ? stream - 2 : 1, FramePeer.number(8))
      case 4: return FramePeer.frame(Kind.windowUpdate, 0, 0, FramePeer.number(1))
      case 5: return FramePeer.frame(77, 0, 0, [1, 2, 3])
      case 6: return once(in: 4) ? head(earlier, block, ends: true) : []
      default: return request(block + [0x40, 1, 0x63, 1, 0x64])
      }
    }
  }
}
