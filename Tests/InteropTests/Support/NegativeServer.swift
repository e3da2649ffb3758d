import Foundation
import HTTP2TestSupport
import InteropService
import Switchboard

@testable import Interop

/// A server that resets, pings and limits as the negative cases specify, frame by frame.
final class NegativeServer: @unchecked Sendable {
  // Sendable because shared state is behind the lock, and one thread uses the listener.
  private let test: TestCase
  private let listener: FrameListener
  private let lock = NSLock()
  private var calls = 0
  private var connections = 0
  private var problems: [String] = []
  private var isStopped = false
  private let group = DispatchGroup()

  var port: Int { listener.port }

  init(_ test: TestCase) throws {
    self.test = test
    listener = try FrameListener()
    inThread { self.acceptAll() }
  }

  /// The client's violations, once its connections have ended.
  func stop() async throws -> [String] {
    lock.withLock { isStopped = true }
    let last = try RawPeer(port: listener.port)
    await withCheckedContinuation { continuation in
      group.notify(queue: .global()) { continuation.resume() }
    }
    withExtendedLifetime(last) {}
    return lock.withLock { problems + missing }
  }

  /// What the client must have done by the end.
  private var missing: [String] {
    let wanted: (calls: Int, connections: ClosedRange<Int>) =
      switch test {
      case .goaway: (2, 2...2)
      case .maxStreams: (11, 1...4)
      default: (1, 1...1)
      }
    var texts: [String] = []
    if calls != wanted.calls { texts.append("\(calls) calls") }
    if !wanted.connections.contains(connections) { texts.append("\(connections) connections") }
    return texts
  }

  private func inThread(_ body: @escaping @Sendable () -> Void) {
    group.enter()
    Thread {
      body()
      self.group.leave()
    }.start()
  }

  private func acceptAll() {
    while true {
      let raw = listener.acceptRaw()
      let isLast = lock.withLock { isStopped }
      if isLast { return }
      lock.withLock { connections += 1 }
      inThread { self.serve(FramePeer(serving: raw)) }
    }
  }

  private func serve(_ peer: FramePeer) {
    // Larger windows for requests that exceed the initial ones.
    peer.send(FramePeer.Kind.settings, 0, 0, [0, 4] + FramePeer.number(1 << 24))
    peer.send(FramePeer.Kind.windowUpdate, 0, 0, FramePeer.number(1 << 24))
    if test == .maxStreams { peer.send(FramePeer.Kind.settings, 0, 0, [0, 3] + FramePeer.number(1)) }
    var outstandingPings = 0
    var limitIsKnown = false
    var open: Set<UInt32> = []
    while let frame = peer.next() {
      switch frame.type {
      case FramePeer.Kind.settings where frame.flags & 1 == 0:
        // The client may apply the old windows until we acknowledge the new ones.
        peer.send(FramePeer.Kind.settings, 1, 0, [])
      case FramePeer.Kind.ping where frame.flags & 1 == 1:
        outstandingPings -= 1
        if outstandingPings == 0, let stream = open.first { finish(peer, stream) }
      case FramePeer.Kind.headers:
        open.insert(frame.stream)
        if test == .maxStreams, limitIsKnown, open.count > 1 { report("\(open.count) streams at a time") }
        lock.withLock { calls += 1 }
        if test == .goaway {
          peer.send(FramePeer.Kind.goAway, 0, 0, FramePeer.number(frame.stream) + [0, 0, 0, 0])
        }
      case FramePeer.Kind.data where frame.endsStream:
        outstandingPings += answer(peer, frame.stream)
        if test != .ping { open.remove(frame.stream) }
        // It came after the settings, as did the client's next call.
        limitIsKnown = true
      default: break
      }
    }
    if outstandingPings != 0 { report("\(outstandingPings) pings without an answer") }
  }

  private func report(_ problem: String) { lock.withLock { problems.append(problem) } }

  /// Returns the number of pings it sent.
  private func answer(_ peer: FramePeer, _ stream: UInt32) -> Int {
    var pings = 0
    func ping() {
      guard test == .ping else { return }
      pings += 1
      peer.send(FramePeer.Kind.ping, 0, 0, [0, 0, 0, 0, 0, 0, 0, UInt8(pings)])
    }
    ping()
    peer.headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
    ping()
    let body = Self.message
    switch test {
    case .rstAfterHeader: break
    case .rstDuringData: send(body.prefix(body.count / 2), peer, stream)
    default: send(body[...], peer, stream)
    }
    ping()
    switch test {
    case .rstAfterHeader, .rstDuringData, .rstAfterData:
      peer.send(FramePeer.Kind.resetStream, 0, stream, [0, 0, 0, 0])
    // The call ends once all pings are acknowledged: afterwards the client may disconnect without reading on.
    case .ping: break
    default: finish(peer, stream)
    }
    return pings
  }

  private func finish(_ peer: FramePeer, _ stream: UInt32) {
    peer.headers(stream, [("grpc-status", "0")], ends: true)
  }

  private func send(_ bytes: ArraySlice<UInt8>, _ peer: FramePeer, _ stream: UInt32) {
    var rest = bytes
    while !rest.isEmpty {
      peer.data(stream, Array(rest.prefix(16_384)))
      rest = rest.dropFirst(16_384)
    }
  }

  /// The response, with gRPC's prefix.
  private static let message: [UInt8] = {
    let response = Grpc_Testing_SimpleResponse.with {
      $0.payload.body = [UInt8](repeating: 0, count: 314_159)
    }
    guard let message = try? ProtobufMarshaller<Grpc_Testing_SimpleResponse>().encode(response) else {
      return []
    }
    return Array(message.unsafeFramedBytes)
  }()
}
