import ConformanceMessages
import SwitchboardProtobuf
import SwitchboardToolSupport

/// The program under test of protobuf's conformance suite: requests come in on standard input, responses go out on standard
/// output, each behind its length in four bytes, least significant first.
///
/// With `--editions`, what a request asks of the proto2 and proto3 messages is asked of those that say the same in an
/// edition.
@main struct ConformanceTestee {
  static func main() throws {
    let testee = Testee(usesEditions: CommandLine.arguments.dropFirst().contains("--editions"))
    while let request = try nextRequest() {
      let response = try testee.respond(to: request).serializedBytes()
      let count = UInt32(truncatingIfNeeded: response.count)
      let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
      try Descriptor.standardOutput.writeAll(length + response)
    }
  }

  /// Nil where the runner has hung up.
  private static func nextRequest() throws -> Conformance_ConformanceRequest? {
    let length = try Descriptor.standardInput.readBytes(4)
    guard length.count == 4 else { return nil }
    let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
    return try Conformance_ConformanceRequest(serializedBytes: Descriptor.standardInput.readBytes(count))
  }
}
