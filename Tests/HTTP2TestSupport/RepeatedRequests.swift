import SwitchboardTransport
import TestSupport

/// Requests of which any two differ in little. A connection remembers heads: each request must be answered as the first of a
/// connection would be, whatever came before it.
package struct RepeatedRequests {
  private typealias Kind = FramePeer.Kind

  package struct Request: Sendable {
    package let head: [(String, String)]
    /// `nil` if the request ends with its head.
    package let body: [UInt8]?

    package init(_ head: [(String, String)], _ body: [UInt8]?) {
      self.head = head
      self.body = body
    }
  }

  private let requests: [Request]

  package init(_ requests: [Request]) { self.requests = requests }

  /// The frames that answer a request, without digits, which may be those of the connection's port. `nil` if the
  /// connection has ended.
  private func answer(_ peer: FramePeer, _ stream: UInt32, _ request: Request) -> [String]? {
    peer.headers(stream, request.head, ends: request.body == nil)
    if let body = request.body { peer.data(stream, body, ends: true) }
    var answer: [String] = []
    while let frame = peer.next() {
      let fields = frame.type == Kind.headers ? peer.inflate(frame.payload) : [:]
      guard frame.stream == stream else { continue }
      switch frame.type {
      case Kind.headers: answer.append(fields.map { "\($0): \($1)" }.sorted().joined(separator: ", "))
      case Kind.data: answer.append(String(decoding: frame.payload, as: UTF8.self).filter { !$0.isNumber })
      case Kind.resetStream: answer.append("\(frame.payload)")
      default: continue
      }
      if frame.endsStream || frame.type == Kind.resetStream { return answer }
    }
    return nil
  }

  /// Sends them in many orders, and returns those that are answered otherwise than on a connection of their own.
  package func mistakes(_ connect: () throws -> FramePeer) throws -> [String] {
    let expected = try requests.map { try answer(connect(), 1, $0) }
    var mistakes: [String] = []
    for order in pairs + walks {
      let peer = try connect()
      for (index, request) in order.enumerated() {
        let found = answer(peer, UInt32(2 * index + 1), requests[request])
        guard found != expected[request] else { continue }
        let before = order[..<index].suffix(12).map(String.init).joined(separator: " ")
        mistakes.append(
          "\(request) after \(before): \(String(describing: found)), \(String(describing: expected[request]))"
        )
      }
    }
    return mistakes
  }

  /// Each two of them.
  private var pairs: [[Int]] {
    requests.indices.map { first in
      requests.indices.flatMap { second in [first, first, first, second, second, second, first, second] }
    }
  }

  /// A few of them in any order: what is remembered of one may be found by another when a third has come between.
  private var walks: [[Int]] {
    var random = SeededGenerator(seed: 43)
    let all = Array(requests.indices)
    return (0..<60).map { _ in
      let few = (0..<5).map { _ in random.pick(all) }
      return (0..<80).map { _ in random.pick(few) }
    }
  }
}
