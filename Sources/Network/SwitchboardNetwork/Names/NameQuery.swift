// unsafe: c-ares: a channel owned by one object, callbacks within one call into it

import CAres
import SwitchboardCall

/// A lookup on its loop. It ends once: with its completion or by cancellation.
package final class NameQuery: LoopTask, @unchecked Sendable {
  // Sendable because it is used only on the loop.
  enum Question {
    case addresses(port: Int, (Result<NameAnswer, GRPCStatus>) -> Void)
    case texts((Result<[String], GRPCStatus>) -> Void)
  }

  private enum Answer {
    case addresses(NameAnswer)
    case texts([String])
    case failure(GRPCStatus)
  }

  let name: String
  private let loop: Loop
  /// `nil` once it has ended.
  private var question: Question?
  private var answer: Answer?
  /// The client that owns the lookup, until it ends.
  private var client: NameClient?
  /// The channel of the query, once it has started.
  private var channel: NameChannel?
  private var deadline: LoopTimer?
  /// Whether the query is being started. An immediate answer does not come from a name server.
  private var isStarting = false

  init(_ name: String, _ question: Question, on loop: Loop) {
    self.name = name
    self.question = question
    self.loop = loop
  }

  /// Whether the lookup has neither started nor ended.
  var isWaiting: Bool { client != nil && channel == nil && answer == nil }

  func wait(in client: NameClient, for timeout: Duration) {
    self.client = client
    loop.openHandles += 1
    let deadline = LoopTimer { [self] in end(with: failed(ARES_ETIMEOUT)) }
    self.deadline = deadline
    loop.schedule(deadline, after: timeout)
  }

  func start(on channel: NameChannel) {
    self.channel = channel
    channel.lookups += 1
    isStarting = true
    send(on: channel)
    isStarting = false
  }

  /// Cancels the lookup. The completion is not called.
  package func cancel() {
    question = nil
    leave()
  }

  func fail(_ reason: String) { post(failure(reason)) }

  private func failure(_ reason: String) -> Answer {
    let message = "\(name) was not found: \(reason)"
    return .failure(GRPCStatus(code: .unavailable, message: message, origin: .library))
  }

  /// Ends the lookup later, because the caller may be starting it, or c-ares may still be working on it.
  private func post(_ answer: Answer) {
    self.answer = answer
    loop.run(.task(self))
  }

  package func runOnLoop() {
    if let answer { end(with: answer) }
  }

  private func end(with answer: Answer) {
    let question = question
    self.question = nil
    leave()
    switch (question, answer) {
    case (.addresses(_, let completion), .addresses(let answer)): completion(.success(answer))
    case (.addresses(_, let completion), .failure(let status)): completion(.failure(status))
    case (.texts(let completion), .texts(let texts)): completion(.success(texts))
    case (.texts(let completion), .failure(let status)): completion(.failure(status))
    default: break
    }
  }

  private func leave() {
    if let deadline { loop.cancel(deadline) }
    deadline = nil
    guard let client else { return }
    self.client = nil
    loop.openHandles -= 1
    guard let channel else { return }
    self.channel = nil
    channel.lookups -= 1
    client.queryEnded()
  }
}

// MARK: - Numbers

extension NameQuery {
  /// Whether the host is a numeric address. c-ares 1.18 would query name servers for IPv4 addresses.
  var isNumeric: Bool { number != nil }

  private var number: SocketAddress? {
    guard case .addresses(let port, _) = question else { return nil }
    return SocketAddress.numeric(name, port: port)
  }

  func answerNumber() {
    if let number { post(.addresses(NameAnswer(addresses: [number], timeToLive: nil))) }
  }
}

// MARK: - Asking c-ares

extension NameQuery {
  private static let internet: Int32 = 1
  private static let text: Int32 = 16

  private func send(on channel: NameChannel) {
    // The callback releases this reference. It is called exactly once, even if the channel closes before an answer
    // arrives.
    let retained = Unmanaged.passRetained(self).toOpaque()
    switch question {
    case .addresses:
      var hints = ares_addrinfo_hints()
      hints.ai_family = AF_UNSPEC
      channel.query { ares in
        ares_getaddrinfo(ares, name, nil, &hints, { NameQuery.of($0)?.take($1, $3) }, retained)
      }
    case .texts, nil:
      channel.query { ares in
        ares_search(ares, name, Self.internet, Self.text, { NameQuery.of($0)?.take($1, $3, $4) }, retained)
      }
    }
  }

  private static func of(_ argument: UnsafeMutableRawPointer?) -> NameQuery? {
    argument.map { Unmanaged<NameQuery>.fromOpaque($0).takeRetainedValue() }
  }

  private func take(_ status: Int32, _ list: UnsafeMutablePointer<ares_addrinfo>?) {
    defer { ares_freeaddrinfo(list) }
    // After the lookup has ended, its result is not needed.
    guard question != nil else { return }
    guard status == ARES_SUCCESS, let list else { return post(failed(status)) }
    let port = if case .addresses(let port, _) = question { port } else { 0 }
    var addresses: [SocketAddress] = []
    var lifetime = Int32.max
    var node = list.pointee.nodes
    while let current = node {
      let length = Int(current.pointee.ai_addrlen)
      if let address = current.pointee.ai_addr.flatMap({ SocketAddress($0, count: length) }) {
        addresses.append(address.with(port: port))
      }
      lifetime = min(lifetime, current.pointee.ai_ttl)
      node = current.pointee.ai_next
    }
    var alias = list.pointee.cnames
    while let current = alias {
      lifetime = min(lifetime, current.pointee.ttl)
      alias = current.pointee.next
    }
    guard !addresses.isEmpty else { return post(failed(ARES_ENODATA)) }
    // TTLs have 31 bits. RFC 2181 treats a negative one as zero.
    let timeToLive: Duration? = isStarting ? nil : .seconds(max(0, lifetime))
    post(.addresses(NameAnswer(addresses: addresses, timeToLive: timeToLive)))
  }

  private func take(_ status: Int32, _ message: UnsafeMutablePointer<UInt8>?, _ count: Int32) {
    guard question != nil else { return }
    guard status == ARES_SUCCESS, let message else { return post(failed(status)) }
    var list: UnsafeMutablePointer<ares_txt_ext>?
    let result = ares_parse_txt_reply_ext(message, count, &list)
    defer { ares_free_data(list) }
    guard result == ARES_SUCCESS else { return post(failed(result)) }
    var texts: [[UInt8]] = []
    var next = list
    while let part = next?.pointee {
      if part.record_start != 0 || texts.isEmpty { texts.append([]) }
      texts[texts.count - 1] += UnsafeBufferPointer(start: part.txt, count: part.length)
      next = part.next
    }
    post(.texts(texts.map { String(decoding: $0, as: UTF8.self) }))
  }

  private func failed(_ status: Int32) -> Answer {
    failure(NameFailure(status, asking: channel?.described ?? "the name service").reason)
  }
}
