import CallTestSupport
import EchoService
import Switchboard
import Testing

/// Correctly framed bytes that are not a valid message: text that is not UTF-8, truncated fields.
@Suite(.timeLimit(.minutes(5))) struct InvalidMessageTests {
  private static let get = MethodDescriptor(service: "echo.Echo", method: "Get", type: .unary)
  private static let update = MethodDescriptor(
    service: "echo.Echo",
    method: "Update",
    type: .bidirectionalStreaming
  )

  private static let broken: [[UInt8]] = [
    // `text`, field 1, with invalid UTF-8: a stray byte, an overlong slash, half a surrogate pair.
    [0x0a, 2, 0xff, 0xfe], [0x0a, 2, 0xc0, 0xaf], [0x0a, 3, 0xed, 0xa0, 0x80], [0x0a, 2, 0xe2, 0x82],
    // Lengths beyond the end, by a little and by the largest possible length.
    [0x0a, 5, 0x61], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x61],
    [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    // An endless number, field zero, a group that is not closed and one that was not opened.
    [UInt8](repeating: 0x80, count: 11), [0x00, 0x01], [0x0b], [0x0c],
    // Nested groups, deeper than in any message.
    [UInt8](repeating: 0x13, count: 100_000),
  ]

  @Test(arguments: broken) func anInvalidMessageFailsItsCall(_ bytes: [UInt8]) async throws {
    try await EchoPair.with { pair async throws in
      let failure = await status {
        _ = try await pair.channel.call(Self.get).unary(bytes)
      }
      #expect(failure?.code == .internalError)
      #expect(try await pair.client().get(Echo_EchoRequest("still there")).text.contains("still there"))
    }
  }

  @Test(arguments: broken) func anInvalidMessageEndsAStream(_ bytes: [UInt8]) async throws {
    try await EchoPair.with { pair async throws in
      let failure = await status {
        _ = try await pair.channel.call(Self.update).bidirectionalStreaming([[], bytes, []]).collected()
      }
      #expect(failure?.code == .internalError)
    }
  }
}
