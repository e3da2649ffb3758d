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
    flood("empty-data", after: stream("ClientStream"), AttackFrame.make(.data, 0, 1)),
    flood("one-byte-data", after: stream("ClientStream"), AttackFrame.make(.data, 0, 1, [0]), count: 100_000),
    flood(
      "continuation",
      after: AttackFrame.headers(1, AttackFrame.block(of: "Unary"), flags: 0),
      AttackFrame.make(.continuation, 0, 1)
    ),
    streams("rapid-reset", count: 4000, perPiece: 50) { stream in
      AttackFrame.headers(stream, AttackFrame.block(of: "ClientStream"))
        + AttackFrame.make(.reset, 0, stream, AttackFrame.number(8))
    },
  ]

  private static func stream(_ method: String) -> [UInt8] {
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

  private static let messages = [
    streams("lying-prefix", count: 100, perPiece: 100, finally: .answers(100)) { stream in
      AttackFrame.headers(stream, AttackFrame.block(of: "Unary"))
        + AttackFrame.data(stream, [0] + AttackFrame.number(4 << 20))
    },
    // Larger than the message limit: the server stops at four megabytes.
    streams("compression-bomb", count: 100, perPiece: 1, then: .answers(1), finally: nil) { stream in
      AttackFrame.headers(stream, AttackFrame.block(of: "Unary", [("grpc-encoding", "gzip")]))
        + AttackFrame.data(stream, AttackFrame.message(largeBomb, isCompressed: true))
    },
    // Each is within the limit.
    Attack(
      name: "small-bombs",
      steps: [
        .send(
          AttackFrame.greeting
            + AttackFrame.headers(1, AttackFrame.block(of: "ClientStream", [("grpc-encoding", "gzip")]))
        )
      ]
        + [Step](
          repeating: .send(
            AttackFrame.data(1, AttackFrame.message(smallBomb, isCompressed: true), ends: false)
          ),
          count: 200
        )
        + [.send(AttackFrame.make(.data, AttackFrame.endStream, 1)), .answers(1)]
    ),
  ]

  /// Sixteen megabytes of zeros; below, a `Bench_Chunk` of zeros that is 64 bytes short of four megabytes.
  private static let largeBomb = file("large-bomb.gz")
  private static let smallBomb = file("small-bomb.gz")

  private static func file(_ name: String) -> [UInt8] {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let path = sources.deletingLastPathComponent().appendingPathComponent("Data/\(name)").path
    return FileManager.default.contents(atPath: path).map { Array($0) } ?? []
  }

  private static let connections = [
    Attack(name: "connect", steps: []),
    Attack(name: "half-open", width: 1000, steps: [.send(AttackFrame.greeting), .stay]),
    Attack(name: "not-http2", steps: [.send(Array("GET / HTTP/1.1\r\n\r\n".utf8)), .dismissal]),
    Attack(
      name: "never-read",
      width: 20,
      steps: [
        .send(
          AttackFrame.greeting
            + stride(from: 1, to: 200, by: 2).flatMap { stream in
              AttackFrame.headers(stream, AttackFrame.block(of: "ServerStream"))
                + AttackFrame.data(stream, AttackFrame.message(endlessPlan))
            }
        ), .stay,
      ]
    ),
  ]

  /// A `Bench_Plan` for 2^28 messages of ten thousand bytes.
  private static let endlessPlan: [UInt8] = [0x08, 0x80, 0x80, 0x80, 0x80, 0x01, 0x10, 0x90, 0x4e]

  /// For servers with TLS.
  private static let secure = [
    // The server computes keys and a signature that the client ignores.
    Attack(name: "tls-hello", steps: [.send(ClientHello.bytes), .anyBytes]),
    Attack(
      name: "tls-garbage",
      steps: [.send([0x16, 3, 1, 0, 10, 1, 0xff, 0xff, 0xff, 3, 3, 0, 0, 0, 0]), .dismissal]
    ),
    Attack(name: "tls-plaintext", steps: [.send(AttackFrame.greeting), .dismissal]),
  ]

  /// The baseline for these: a connection with one call, by a client of this package.
  static let secureCall = Attack(name: "tls-call", steps: [])

  static let all = controls + floods + headers + messages + connections + [secureCall] + secure

  static var names: [String] { all.map(\.name) }
}
