import CodecMessages
import Foundation
import SwitchboardProtobuf

/// Decodes and encodes one realistic message repeatedly.
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

  /// One line for binary and one for JSON, each with the median and the best of the repeats, in nanoseconds for one
  /// message.
  func run() throws -> String {
    let order = try Codec_Order(serializedBytes: bytes)
    let text = try order.jsonUTF8Bytes()
    let binary = try measure(
      "value",
      decode: { keep(try Codec_Order(serializedBytes: bytes)) },
      encode: { keep(try order.serializedBytes()) }
    )
    let json = try measure(
      "json",
      decode: { keep(try Codec_Order(jsonUTF8Bytes: text)) },
      encode: { keep(try order.jsonUTF8Bytes()) }
    )
    return binary + "\n" + json
  }

  private func measure(
    _ name: String,
    decode: () throws -> Void,
    encode: () throws -> Void
  ) throws -> String {
    var decoding: [Double] = []
    var encoding: [Double] = []
    for _ in 0..<repeats {
      decoding.append(try nanosecondsPerRound(decode))
      encoding.append(try nanosecondsPerRound(encode))
    }
    decoding.sort()
    encoding.sort()
    return "\(name) decode_ns=\(Int(decoding[repeats / 2])) encode_ns=\(Int(encoding[repeats / 2]))"
      + " decode_best_ns=\(Int(decoding[0])) encode_best_ns=\(Int(encoding[0]))"
  }

  private func nanosecondsPerRound(_ work: () throws -> Void) rethrows -> Double {
    let start = processorTime
    for _ in 0..<rounds { try work() }
    return (processorTime - start) / Double(rounds)
  }

  /// The processor time of this process, in nanoseconds: it excludes time in which other processes ran.
  private var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  /// Keeps the optimizer from removing work whose result is unused.
  @inline(never)
  private func keep<Result>(_ result: Result) {}
}
