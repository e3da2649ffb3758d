import SwitchboardProtobuf
import Testing

/// Damaged text is rejected or read, and a message that was read reads back after it was written.
@Suite struct TextMutationTests {
  /// The same numbers on every run.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64 = 1
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  @Test func survivesDamage() throws {
    var random = Numbers()
    var options = TextFormatDecodingOptions()
    options.typeRegistry = TextCases.types
    let seeds = TextCases.kinds + Array(repeating: StructureCases.kinds, count: 5).joined()
    var count = 0
    for _ in 0..<5000 {
      let damaged = TextMutationTests.damage(seeds.randomElement(using: &random) ?? "", with: &random)
      guard let message = try? Kinds(textFormatString: damaged, options: options) else { continue }
      let text = message.textFormatString()
      // NaN is not equal to itself, so the text is compared.
      #expect(try Kinds(textFormatString: text).textFormatString() == text, "\(damaged)")
      count += 1
    }
    #expect(count > 500)
  }

  private static func damage(_ text: String, with random: inout Numbers) -> String {
    var bytes = Array(text.utf8)
    let place = Int.random(in: 0...bytes.count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: bytes.insert(":{}<>[],;'\"\\#\n x1-.".utf8.randomElement(using: &random) ?? 0, at: place)
    case 1 where place < bytes.count: bytes.remove(at: place)
    case 2 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
    default: bytes += bytes[place...]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
