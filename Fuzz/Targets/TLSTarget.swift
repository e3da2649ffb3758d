import CertificateSupport
import SwitchboardCall
import TLSSupport

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// One end of TLS in memory; a script plays the peer and the network.
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

/// The invariants of a filter.
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
          if isSecure { complaint = "a connection became secure twice" }
          isSecure = true
        case .plaintext(let bytes):
          if !isSecure { complaint = "data received before the connection is secure" }
          if bytes.isEmpty { complaint = "empty data received" }
          if !filter.isSecure { complaint = "data received from a connection that is not secure" }
          plaintext += bytes
        }
        return true
      }
    }
    if let complaint { throw BrokenPromise(description: complaint) }
    try BrokenPromise.unless(!hadEnded || events == 0, "an event after the end")
    wasSecure = isSecure
    received += plaintext
    taken += bytes.count
    switch result {
    case .open: break
    case .ended, .failed:
      try BrokenPromise.unless(!hadEnded, "the end is reported twice")
      hasEnded = true
    }
    try BrokenPromise.unless(filter.isSecure == (isSecure && !hasEnded), "isSecure is wrong")
    // No record header is shorter, and one record may be incomplete.
    let idle = filter.takeIdleRecords()
    try BrokenPromise.unless(idle >= 0 && idle <= (taken + 5) / 5, "\(idle) records in \(taken) bytes")
    if wasSecureBefore, !hadEnded {
      // The response to a record is not much longer than the shortest record.
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
    try BrokenPromise.unless(failure == nil, "cannot encrypt: \(failure.map { "\($0)" } ?? "")")
    try BrokenPromise.unless(encrypted.isEmpty != isSecure, "the output does not match the input")
    return bytes(of: encrypted)
  }

  private func bytes(of output: OutputBuffer) -> [UInt8] {
    var bytes: [UInt8] = []
    output.forEachPiece { bytes += $0 }
    return bytes
  }

  /// Checks that the data received is a prefix of the data that the peer sent.
  func check(against said: [UInt8]) throws {
    try BrokenPromise.unless(said.starts(with: received), "data received that was never sent")
  }
}
