import BenchService
import Switchboard

/// A call of a random kind and size, whose response is verified.
struct SoakCall: Sendable, CustomStringConvertible {
  enum Kind: CaseIterable { case unary, serverStream, clientStream, bidi }

  /// The fault to inject.
  enum Fault { case none, cancelled, deadline, abandoned, tooLarge }

  var kind: Kind
  var byteCount: Int
  var messages: Int
  var compression: MessageCompression
  var fault: Fault

  /// Half of the calls that may have a fault get one; messages that are too large are rare, because they are expensive.
  static func random(hasFaults: Bool) -> SoakCall {
    let faults: [Fault] = Int.random(in: 0..<20) == 0 ? [.tooLarge] : [.cancelled, .deadline, .abandoned]
    let fault = hasFaults && Bool.random() ? faults.randomElement() ?? .none : .none
    let isBig = Int.random(in: 0..<20) == 0
    return SoakCall(
      kind: Kind.allCases.randomElement() ?? .unary,
      byteCount: fault == .tooLarge
        ? tooLarge : isBig ? Int.random(in: 0..<1_000_000) : Int.random(in: 0..<200),
      messages: isBig || fault == .tooLarge ? 2 : Int.random(in: 0..<20),
      compression: MessageCompression.allCases.randomElement() ?? .none,
      fault: fault
    )
  }

  /// Above the default limit of both sides.
  private static let tooLarge = 5 << 20

  var description: String { "\(kind) of \(messages) x \(byteCount) bytes, \(compression), \(fault)" }

  /// Whether a call with this fault may end with `code`.
  func mayEnd(with code: GRPCStatus.Code) -> Bool {
    switch (fault, code) {
    case (_, .ok): fault != .tooLarge
    case (.cancelled, .cancelled), (.deadline, .deadlineExceeded), (.tooLarge, .resourceExhausted): true
    default: false
    }
  }

  /// Makes the call. Throws if it fails or the response is wrong.
  func make(on client: Bench_BenchClient, options: CallOptions) async throws {
    var options = options
    options.compression = compression
    switch fault {
    case .deadline:
      options.timeout = .microseconds(Int.random(in: 0..<3000))
      try await exchange(client, options)
    case .cancelled:
      let call = Task { [options] in try await exchange(client, options) }
      try? await Task.sleep(for: .microseconds(Int.random(in: 0..<2000)))
      call.cancel()
      try await call.value
    case .abandoned:
      for try await _ in client.serverStream(plan, callOptions: options) { break }
    case .none, .tooLarge:
      try await exchange(client, options)
    }
  }

  private func exchange(_ client: Bench_BenchClient, _ options: CallOptions) async throws {
    let text = Bench_Text.with { $0.text = String(repeating: "x", count: byteCount) }
    switch kind {
    case .unary:
      try check(try await client.unary(text, callOptions: options) == text)
    case .serverStream:
      var count = 0
      for try await chunk in client.serverStream(plan, callOptions: options) {
        count += 1
        try check(chunk.payload.count == byteCount)
      }
      try check(count == messages)
    case .clientStream:
      let chunk = Bench_Chunk.with { $0.payload = [UInt8](repeating: 1, count: byteCount) }
      let sum = try await client.clientStream(repeatElement(chunk, count: messages), callOptions: options)
      try check(Int(sum.messages) == messages && (messages == 0 || Int(sum.bytes) == byteCount))
    case .bidi:
      var count = 0
      for try await answer in client.bidi(repeatElement(text, count: messages), callOptions: options) {
        count += 1
        try check(answer == text)
      }
      try check(count == messages)
    }
  }

  private var plan: Bench_Plan {
    .with {
      $0.messages = UInt32(messages)
      $0.bytes = UInt32(byteCount)
    }
  }

  private func check(_ isRight: Bool) throws {
    if !isRight { throw GRPCStatus(code: .dataLoss, message: "the response is wrong") }
  }
}
