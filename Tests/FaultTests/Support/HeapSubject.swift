import TestSupport
import Testing

/// The limits in `docs/records/ThreatModel.md`, in bytes of heap, with the options of `HeapScenario`.
enum HeapLimit {
  /// The memory for messages in transit: the stream's buffer.
  static let stream = 256 << 10
  static let window = 1 << 20
  /// The memory for unread data on a connection of the subject, with the window that is open meanwhile.
  static let connection = (8 << 20) + (4 << 20)
  /// The memory for decompressed messages on a connection of the subject.
  static let inflated = 8 << 20
  /// The memory of a message of which only the prefix has arrived.
  static let announced = 16 << 10
  /// The memory of a call without its messages and headers.
  static let call = 16 << 10
  /// One block of headers or trailers.
  static let head = 32 << 10
  /// What is ready to be sent of a gRPC-Web response in Base64.
  static let text = 48 << 10
  /// One turn's share of the loop, which is the most that a connection reads or writes at once.
  static let share = 256 << 10
  /// The memory of a connection without its calls: its buffers, those of OpenSSL and nghttp2 including their growth,
  /// and data that a loop has read.
  static let base = 1 << 20
  /// A connection of HTTP/1.1 that is not used.
  static let idleHTTP1 = 3 << 10
  /// A connection over which nothing is being sent, and its TLS.
  static let idleTLS = 96 << 10
  /// The same once its session is packed, and if the application lets OpenSSL use our allocator, OpenSSL's part too.
  static let restingTLS = 21 << 10
  static let packedTLS = 17 << 10
  /// A TLS handshake that is not complete.
  static let handshake = 256 << 10
  /// Answers of TLS to a peer that reads nothing, besides those to one turn's share.
  static let unreadTLS = 64 << 10
}

/// What the system refuses to `FaultSubject`, as the program has it. `make test` sets it in the environment for all
/// scenarios, once each.
enum ScarceMemory: String, CaseIterable {
  case limited, refusing
}

/// `FaultSubject` as a process that reports its heap.
final class HeapSubject {
  private let process: ChildProcess

  convenience init(_ words: String..., memory: ScarceMemory? = nil) throws {
    try self.init(words, memory: memory)
  }

  init(_ words: [String], memory: ScarceMemory? = nil) throws {
    let path = Command.path(ofProduct: "FaultSubject")
    // Thread caches count as used memory, so they are disabled.
    var settings = ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0"]
    if let memory { settings += ["FAULT_MEMORY=\(memory)", "MALLOC_ARENA_MAX=2"] }
    process = try ChildProcess("/usr/bin/env", settings + [path, "heap"] + words)
  }

  /// The next line as a number.
  func port() throws -> Int { try #require(process.line().flatMap { Int($0) }) }

  func stop() { process.stop() }

  func send(_ command: String) throws {
    process.write(command + "\n")
    #expect(process.line() == "done")
  }

  func held(since before: Int = 0) throws -> Int {
    process.write("held\n")
    return try #require(process.line().flatMap { Int($0) }) - before
  }

  /// Waits until no more than this is held, because what is not used was freed; a minute at most.
  func heldWhenUnused(atMost most: Int, since before: Int) throws -> Int {
    let end = ContinuousClock.now + .seconds(60)
    while true {
      let held = try self.held(since: before)
      if held <= most || ContinuousClock.now > end { return held }
    }
  }

  /// If the peer receives no signal: waits until this much is held, and then for enough turns of the loop that an
  /// unlimited writer would go far beyond.
  func heldInTheEnd(since before: Int, atLeast least: Int) throws -> Int {
    var held = 0
    while held <= least { held = try self.held(since: before) }
    for _ in 0..<200 { held = max(held, try self.held(since: before)) }
    return held
  }
}
