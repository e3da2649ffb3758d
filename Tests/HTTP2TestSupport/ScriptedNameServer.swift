import Foundation
import Glibc
import SwitchboardCall
import TestSupport

/// A name server that answers each query as a test says, or not at all.
package final class ScriptedNameServer: Sendable {
  /// From a query to the datagrams that answer it.
  package typealias Datagrams = @Sendable (DNSBytes) -> [[UInt8]]
  /// From a query to what follows on the stream; `nil` ends it.
  package typealias Stream = @Sendable (DNSBytes) -> [UInt8]?

  private let datagrams: Int32
  private let listener: Int32
  private let isOver: Counter
  package let queries: Counter
  package let authority: String

  package init(_ answer: @escaping Datagrams, stream: Stream? = nil) throws {
    // One port for both.
    let (listener, port) = try LoopbackSocket.listening()
    let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(datagrams, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw SystemFailure() }
    (self.listener, self.datagrams) = (listener, datagrams)
    authority = "127.0.0.1:\(port)"
    let isOver = Counter()
    let queries = Counter()
    (self.isOver, self.queries) = (isOver, queries)
    Thread { Self.serveDatagrams(datagrams, isOver, queries, answer) }.start()
    Thread { Self.serveStreams(listener, isOver, queries, stream) }.start()
  }

  deinit {
    isOver.add(1)
    // Wakes the threads, which close them.
    shutdown(datagrams, Int32(SHUT_RDWR))
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func serveDatagrams(
    _ descriptor: Int32,
    _ isOver: Counter,
    _ queries: Counter,
    _ answer: Datagrams
  ) {
    defer { close(descriptor) }
    while true {
      var buffer = [UInt8](repeating: 0, count: 4096)
      var from = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &from) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
        }
      }
      if isOver.value > 0 { return }
      guard count >= 12 else { continue }
      queries.add(1)
      for datagram in answer(DNSBytes(query: Array(buffer.prefix(count)))) {
        withUnsafePointer(to: &from) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = sendto(descriptor, datagram, datagram.count, 0, $0, length)
          }
        }
      }
    }
  }

  private static func serveStreams(
    _ listener: Int32,
    _ isOver: Counter,
    _ queries: Counter,
    _ answer: Stream?
  ) {
    defer { close(listener) }
    while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
      Thread {
        defer { close(descriptor) }
        while let head = read(2, descriptor), let query = read(Int(head[0]) << 8 | Int(head[1]), descriptor) {
          queries.add(1)
          guard query.count >= 12, let bytes = answer?(DNSBytes(query: query)) else { return }
          var rest = bytes[...]
          while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
              send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
          }
        }
      }
      .start()
    }
  }

  private static func read(_ count: Int, _ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
  }
}

/// A query, and answers to it.
package struct DNSBytes {
  package static let a = 1
  package static let alias = 5
  package static let aaaa = 28

  package let query: [UInt8]
  /// What is behind the question does not belong to the answer.
  private let question: ArraySlice<UInt8>
  package let type: Int

  package init(query: [UInt8]) {
    self.query = query
    var offset = 12
    while offset < query.count, query[offset] != 0 { offset += Int(query[offset]) + 1 }
    let end = min(offset + 5, query.count)
    question = query[min(12, end)..<end]
    type = end >= 16 ? Int(query[end - 4]) << 8 | Int(query[end - 3]) : 0
  }

  /// An answer with this many records.
  package func answer(_ records: [[UInt8]], flags: (UInt8, UInt8) = (0x81, 0x80)) -> [UInt8] {
    query[0..<2] + [
      flags.0, flags.1, 0, 1, UInt8(records.count >> 8), UInt8(records.count & 255), 0, 0, 0, 0,
    ]
      + question + records.joined()
  }

  /// A record of the name in the question, or of one that is given.
  package static func record(
    _ type: Int,
    _ data: [UInt8],
    of name: [UInt8] = [0xc0, 12],
    lifetime: UInt32 = 60
  )
    -> [UInt8]
  {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: lifetime >> (24 - 8 * $0)) }
    return name + [0, UInt8(type), 0, 1] + bytes + [UInt8(data.count >> 8), UInt8(data.count & 255)] + data
  }

  /// The answer to a query for addresses: one of the family that it asks for.
  package var oneAddress: [UInt8] {
    type == Self.aaaa
      ? answer([Self.record(Self.aaaa, [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [1])])
      : answer([Self.record(Self.a, [127, 0, 0, 9])])
  }

  /// Says that the answer is cut off, which makes clients ask again over TCP.
  package var cutOff: [UInt8] { answer([], flags: (0x83, 0x80)) }

  /// A message as it is sent on a stream.
  package static func framed(_ message: [UInt8]) -> [UInt8] {
    [UInt8(message.count >> 8), UInt8(message.count & 255)] + message
  }
}
