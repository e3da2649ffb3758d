import Foundation

/// Attacks by messages that cost more than their bytes.
extension Attack {
  static let messages =
    [
      streams("lying-prefix", count: 100, perPiece: 100, finally: .answers(100)) { stream in
        AttackFrame.headers(stream, AttackFrame.block(of: "Unary"))
          + AttackFrame.data(stream, [0] + AttackFrame.number(4 << 20))
      },
      call("unknown-groups", plainGroups),
      call("unknown-groups-zstd", file("groups.zst"), "zstd"),
    ]
    + [("", "gzip", "gz"), ("-deflate", "deflate", "zz"), ("-zstd", "zstd", "zst"), ("-brotli", "br", "br")]
    .flatMap { suffix, encoding, ending in
      // Larger than the message limit: the server stops at four megabytes. The others are within the limit.
      [
        call("compression-bomb\(suffix)", file("large-bomb.\(ending)"), encoding),
        many("small-bombs\(suffix)", file("small-bomb.\(ending)"), encoding),
      ]
    }

  /// A field that nobody knows, as often as it fits into a stream's window.
  private static let plainGroups = (0..<225_000).flatMap { _ in [0xa3, 6, 0xa4, 6] as [UInt8] }

  /// One call after the other with the same message.
  private static func call(_ name: String, _ message: [UInt8], _ encoding: String? = nil) -> Attack {
    streams(name, count: 100, perPiece: 1, then: .answers(1), finally: nil) { stream in
      AttackFrame.headers(stream, AttackFrame.block(of: "Unary", headers(encoding)))
        + AttackFrame.data(stream, AttackFrame.message(message, isCompressed: encoding != nil))
    }
  }

  /// One call with many messages.
  private static func many(_ name: String, _ message: [UInt8], _ encoding: String) -> Attack {
    let opening = AttackFrame.headers(1, AttackFrame.block(of: "ClientStream", headers(encoding)))
    let data = AttackFrame.data(1, AttackFrame.message(message, isCompressed: true), ends: false)
    return Attack(
      name: name,
      steps: [.send(AttackFrame.greeting + opening)] + [Step](repeating: .send(data), count: 200)
        + [.send(AttackFrame.make(.data, AttackFrame.endStream, 1)), .answers(1)]
    )
  }

  private static func headers(_ encoding: String?) -> [(String, String)] {
    encoding.map { [("grpc-encoding", $0)] } ?? []
  }

  /// `large-bomb` is sixteen megabytes of zeros, `small-bomb` a `Bench_Chunk` of zeros and `groups` a message of unknown
  /// groups, each 64 bytes short of four megabytes.
  private static func file(_ name: String) -> [UInt8] {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let path = sources.deletingLastPathComponent().appendingPathComponent("Data/\(name)").path
    return FileManager.default.contents(atPath: path).map { Array($0) } ?? []
  }
}
