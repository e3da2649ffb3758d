import CodecMessages
import Foundation
import SwitchboardProtobuf

/// Decodes and encodes one realistic message, over and over.
struct CodecBenchmark {
  let bytes: [UInt8]
  let rounds: Int
  let repeats: Int

  init(_ arguments: inout Arguments) throws {
    bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: arguments.next("FILE"))))
    rounds = try arguments.nextCount("ROUNDS")
    repeats = try arguments.nextCount("REPEATS")
    try arguments.end()
  }

  /// One line with the median and the best of the repeats, in nanoseconds for one message.
  func run() throws -> String {
    let order = try Codec_Order(serializedBytes: bytes)
    var decoding: [Double] = []
    var encoding: [Double] = []
    for _ in 0..<repeats {
      decoding.append(try nanosecondsPerRound { keep(try Codec_Order(serializedBytes: bytes)) })
      encoding.append(try nanosecondsPerRound { keep(try order.serializedBytes()) })
    }
    decoding.sort()
    encoding.sort()
    return "value decode_ns=\(Int(decoding[repeats / 2])) encode_ns=\(Int(encoding[repeats / 2]))"
      + " decode_best_ns=\(Int(decoding[0])) encode_best_ns=\(Int(encoding[0]))"
  }

  private func nanosecondsPerRound(_ work: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<rounds { try work() }
    return (clock.now - start) / .nanoseconds(1) / Double(rounds)
  }

  /// Keeps the optimizer from dropping work whose result nothing reads.
  @inline(never)
  private func keep<Result>(_ result: Result) {}
}
