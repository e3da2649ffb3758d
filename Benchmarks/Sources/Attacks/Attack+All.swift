import Foundation

extension Attack {
  /// Harmless clients: the baseline for the others.
  private static let controls = [
    // One connection per call.
    Attack(name: "call", steps: [.send(AttackFrame.greeting + AttackFrame.call(1)), .answers(1)]),
    // A hundred concurrent calls.
    streams("calls", count: 20_000, perPiece: 100, then: .answers(100), finally: nil, AttackFrame.call),
  ]

  private static let floods = [
    flood("settings", AttackFrame.make(.settings)),
    flood("ping", AttackFrame.make(.ping, 0, 0, [UInt8](repeating: 0, count: 8))),
    flood("priority", AttackFrame.make(.priority, 0, 3, [0, 0, 0, 0, 15])),
    flood("window-update", AttackFrame.make(.windowUpdate, 0, 0, AttackFrame.number(1))),
    flood("large-settings", AttackFrame.make(.settings, 0, 0, AttackFrame.manySettings)),
    flood("ping-answers", AttackFrame.make(.ping, 1, 0, [UInt8](repeating: 0, count: 8))),
    flood("unknown-frames", AttackFrame.make(.unknown)),
    flood("padding", after: stream("ClientStream"), AttackFrame.make(.data, 8, 1, [3, 0, 0, 0])),
    flood("empty-data", after: stream("ClientStream"), AttackFrame.make(.data, 0, 1)),
    flood("one-byte-data", after: stream("ClientStream"), AttackFrame.make(.data, 0, 1, [0]), count: 100_000),
    flood(
      "continuation",
      after: AttackFrame.headers(1, AttackFrame.block(of: "Unary"), flags: 0),
      AttackFrame.make(.continuation, 0, 1)
    ),
    flood(
      "endless-headers",
      after: AttackFrame.headers(1, AttackFrame.block(of: "Unary"), flags: 0),
      AttackFrame.make(.continuation, 0, 1, AttackFrame.manyFields)
    ),
  ]

  static func stream(_ method: String) -> [UInt8] {
    AttackFrame.headers(1, AttackFrame.block(of: method))
  }

  /// A field that fills most of HPACK's table, to be repeated by bytes that refer to it.
  private static let large =
    [0x40] + AttackFrame.string("x") + AttackFrame.string(String(repeating: "b", count: 3900))

  private static let headers = [
    streams("header-bomb", count: 1, perPiece: 1) { stream in
      AttackFrame.headers(
        stream,
        AttackFrame.block(of: "Unary") + large + [UInt8](repeating: 0xbe, count: 10_000)
      )
    },
    // As many as the server reads before it treats them as an attack.
    streams("large-headers", count: 2000, perPiece: 50, then: .answers(50), finally: nil) { stream in
      let repeated = [UInt8](repeating: 0xbe, count: 62)
      return AttackFrame.headers(
        stream,
        AttackFrame.block(of: "Unary") + (stream == 1 ? large : []) + repeated,
        flags: AttackFrame.endHeaders | AttackFrame.endStream
      )
    },
    streams("trailers", count: 2000, perPiece: 50, then: .answers(50), finally: nil) { stream in
      let repeated = [UInt8](repeating: 0xbe, count: 62)
      return AttackFrame.headers(stream, AttackFrame.block(of: "ClientStream") + (stream == 1 ? large : []))
        + AttackFrame.headers(stream, repeated, flags: AttackFrame.endHeaders | AttackFrame.endStream)
    },
    // Changes of the table's size at the start of a block, of which HPACK allows any number.
    streams("table-sizes", count: 2000, perPiece: 10, then: .answers(10), finally: nil) { stream in
      let changes = (0..<1000).flatMap { _ in [0x20, 0x3f, 0xe1, 0x1f] as [UInt8] }
      return AttackFrame.headers(
        stream,
        changes + AttackFrame.block(of: "Unary"),
        flags: AttackFrame.endHeaders | AttackFrame.endStream
      )
    },
    // Each byte refers to a field of HTTP/2's static table.
    streams("many-headers", count: 2000, perPiece: 10, then: .answers(10), finally: nil) { stream in
      AttackFrame.headers(
        stream,
        AttackFrame.block(of: "Unary") + [UInt8](repeating: 0x90, count: 4000),
        flags: AttackFrame.endHeaders | AttackFrame.endStream
      )
    },
    Attack(
      name: "slow-headers",
      width: 1000,
      steps: [.send(AttackFrame.greeting + [0, 8, 0, 1, 4, 0, 0, 0, 1])]
        + AttackFrame.block(of: "Unary", [("x", String(repeating: "b", count: 1500))]).map { .send([$0]) }
    ),
  ]

  private static let connections = [
    Attack(name: "connect", steps: []),
    Attack(name: "half-open", width: 1000, steps: [.send(AttackFrame.greeting), .stay]),
    Attack(name: "not-http2", steps: [.send(Array("GET / HTTP/1.1\r\n\r\n".utf8)), .dismissal]),
    // A hundred handlers that run on when the connection is gone.
    Attack(
      name: "abandon",
      steps: [
        .send(
          AttackFrame.greeting
            + (0..<100).flatMap { AttackFrame.headers(2 * $0 + 1, AttackFrame.block(of: "ClientStream")) }
        ), .anyBytes,
      ]
    ),
  ]

  /// For servers with TLS.
  private static let secure = [
    // The server computes keys and a signature that the client ignores.
    Attack(name: "tls-hello", steps: [.send(ClientHello.bytes), .anyBytes]),
    Attack(
      name: "tls-garbage",
      steps: [.send([0x16, 3, 1, 0, 10, 1, 0xff, 0xff, 0xff, 3, 3, 0, 0, 0, 0]), .dismissal]
    ),
    Attack(name: "tls-plaintext", steps: [.send(AttackFrame.greeting), .dismissal]),
    Attack(name: keyUpdates, steps: []), Attack(name: renegotiation, steps: []),
  ]

  /// The baseline for these: a connection with one call, by a client of this package.
  static let secureCall = Attack(name: "tls-call", steps: [])

  /// Those that need keys: `SecureAttack` makes them.
  static let keyUpdates = "tls-key-updates"
  static let renegotiation = "tls-renegotiation"

  /// In the order in which they run.
  static let all =
    controls + floods + resets + headers + windows + messages + connections + plainHTTP + [secureCall]
    + secure

  static var names: [String] { all.map(\.name) }
}
