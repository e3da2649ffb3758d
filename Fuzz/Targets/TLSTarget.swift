import CertificateSupport
import SwitchboardCall
import TLSSupport

@testable import SwitchboardHTTP2

/// One end of TLS in memory, whose peer and whose network follow a script.
enum TLSTarget {
  static func run(_ input: [UInt8]) throws {
    guard let first = input.first else { return }
    let setting = RecordScript.Setting(first)
    let peer = try TLSPeer(
      setting.peerIsServer ? .server : .client,
      version: setting.version,
      protocols: setting.protocols
    )
    var script = RecordScript(peer, input.dropFirst(), mostKeys: 40)
    let context = try (setting.peerIsServer ? clientContext : serverContext).get()
    var end = try FilterUnderFuzz(context)
    if setting.shakesHandsFirst { try script.open(saying: [], to: &end) }
    try script.run(against: &end)
    try end.check(against: script.said)
  }

  private static let serverContext = Result {
    try TLSContext(server: ServerTLS(credentials: TestCertificates.server), allowsHTTP1: true)
  }

  private static let clientContext = Result {
    try TLSContext(client: ClientTLS(trustRoots: TestCertificates.authority), serverName: "localhost")
  }
}

/// What holds of a filter, whatever comes.
private struct FilterUnderFuzz: RecordScript.End {
  private let filter: TLSFilter
  private let memory = Memory()
  private var wasSecure = false
  private var hasEnded = false
  private var received: [UInt8] = []
  private var taken = 0

  private final class Memory {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    deinit { buffer.deallocate() }
  }

  init(_ context: TLSContext) throws {
    guard let filter = TLSFilter(context) else { throw BrokenPromise(description: "no memory for a filter") }
    self.filter = filter
    filter.handshake()
  }

  mutating func take(_ bytes: [UInt8]) throws -> [UInt8] {
    let (hadEnded, wasSecureBefore) = (hasEnded, wasSecure)
    var (isSecure, events, plaintext) = (wasSecure, 0, [UInt8]())
    var complaint: String?
    let result = bytes.withUnsafeBytes { bytes in
      filter.receive(bytes, buffer: memory.buffer) { event in
        events += 1
        switch event {
        case .becameSecure:
          if isSecure { complaint = "a connection becomes secure twice" }
          isSecure = true
        case .plaintext(let bytes):
          if !isSecure { complaint = "something is said before a connection is secure" }
          if bytes.isEmpty { complaint = "nothing is said" }
          if !filter.isSecure { complaint = "something is said by a connection that is not secure" }
          plaintext += bytes
        }
        return true
      }
    }
    if let complaint { throw BrokenPromise(description: complaint) }
    try BrokenPromise.unless(!hadEnded || events == 0, "something is told after the end")
    wasSecure = isSecure
    received += plaintext
    taken += bytes.count
    switch result {
    case .open: break
    case .ended, .failed:
      try BrokenPromise.unless(!hadEnded, "the end is told twice")
      hasEnded = true
    }
    try BrokenPromise.unless(filter.isSecure == (isSecure && !hasEnded), "a connection is not what it says")
    // No head is shorter, and one record may be under way.
    let idle = filter.takeIdleRecords()
    try BrokenPromise.unless(idle >= 0 && idle <= (taken + 5) / 5, "\(idle) records in \(taken) bytes")
    if wasSecureBefore, !hadEnded {
      // What answers a record is not much longer than the shortest.
      let limit = 1024 + 2 * bytes.count
      try BrokenPromise.unless(
        filter.pendingByteCount <= limit,
        "\(filter.pendingByteCount) bytes are pending"
      )
    }
    return pending()
  }

  private func pending() -> [UInt8] {
    let output = OutputBuffer()
    filter.takePending(into: output)
    return bytes(of: output)
  }

  mutating func say(_ count: Int) throws -> [UInt8] {
    let (plain, encrypted) = (OutputBuffer(), OutputBuffer())
    [UInt8](repeating: 7, count: count).withUnsafeBytes { plain.append($0) }
    let isSecure = filter.isSecure
    let failure = filter.send(plain, into: encrypted)
    try BrokenPromise.unless(failure == nil, "nothing can be encrypted: \(failure.map { "\($0)" } ?? "")")
    try BrokenPromise.unless(encrypted.isEmpty != isSecure, "what is said is not what is sent")
    return bytes(of: encrypted)
  }

  private func bytes(of output: OutputBuffer) -> [UInt8] {
    var bytes: [UInt8] = []
    output.forEachPiece { bytes += $0 }
    return bytes
  }

  /// What was told is what the peer said, from its beginning and in its order.
  func check(against said: [UInt8]) throws {
    try BrokenPromise.unless(said.starts(with: received), "what is told was never said")
  }
}
