import HTTP2TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// All that a server's session makes of what a client sends: what its streams receive, and what it answers.
struct Reception: Equatable, CustomStringConvertible {
  struct Options {
    var takesShortcuts = true
    /// Whether its streams keep their heads for others.
    var keepsHeads = true
    var takesTraceParents = false
    var maxHeaderListSize = 16 * 1024
    var headerTableSize: Int?
  }

  let streams: [StubStream]
  private let offense: Offense?
  private let answer: [UInt8]

  static let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// Receives pieces that follow a greeting, and answers each.
  init(of pieces: [[UInt8]], _ options: Options) throws {
    var settings = SessionSettings(isServer: true)
    settings.maxHeaderListSize = options.maxHeaderListSize
    settings.headerTableSize = options.headerTableSize
    settings.maxConcurrentStreams = 1000
    settings.takesShortcuts = options.takesShortcuts
    let session = try #require(Session(.server, settings: settings, memory: BlockPool()))
    let peer = StubPeer()
    peer.keepsHeads = options.keepsHeads
    session.delegate = peer
    session.shortcuts?.takesTraceParents = options.takesTraceParents
    var answer: [UInt8] = []
    var offense: Offense?
    for piece in [Self.greeting] + pieces where offense == nil {
      offense = piece.withUnsafeBytes { session.receive($0, now: 1) }
      let output = OutputBuffer()
      var drained = Drained.some
      while drained == .some { drained = session.drain(into: output, limit: 1 << 20) }
      if case .offense(let found) = drained { offense = found }
      output.forEachPiece { answer += $0 }
    }
    session.connectionDidClose()
    streams = peer.streams
    self.answer = answer
    self.offense = offense
  }

  static func == (left: Self, right: Self) -> Bool { left.description == right.description }

  var description: String {
    let streams = streams.map {
      // Nothing is made of a head that was refused at one of its fields.
      let head = $0.headersEnded ? "\($0.headers.sorted()) \($0.headerCount)" : "no head"
      return "\($0.id): \(head) \($0.received) \($0.hasEnded) \($0.closeCode ?? 0)"
    }
    let offense = offense.map { "\($0.abuse) \($0.code)" } ?? "no offense"
    return (streams + [offense, "\(answer)"]).joined(separator: "\n")
  }
}
