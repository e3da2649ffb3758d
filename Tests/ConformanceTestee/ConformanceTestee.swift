import ConformanceMessages
import SwitchboardProtobuf
import SwitchboardToolSupport

/// The program under test in protobuf's conformance suite: it reads requests from standard input and writes responses
/// to standard output, each with a length prefix of four bytes, little-endian.
///
/// With `--editions`, it uses the equivalent messages of an edition for requests about the proto2 and proto3 messages.
/// With `--descriptors FILE`, the messages are dynamic, of the types in a serialized `FileDescriptorSet`.
@main struct ConformanceTestee {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    var testee = Testee(usesEditions: arguments.contains("--editions"))
    if let option = arguments.firstIndex(of: "--descriptors"), option + 1 < arguments.endIndex {
      let bytes = try readFile(arguments[option + 1])
      testee.dynamicTypes = try DynamicTypes(serializedDescriptors: bytes)
    }
    while let request = try nextRequest() {
      let response = try testee.respond(to: request).serializedBytes()
      let count = UInt32(truncatingIfNeeded: response.count)
      let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
      try Descriptor.standardOutput.writeAll(length + response)
    }
  }

  /// Nil if the runner has closed its end.
  private static func nextRequest() throws -> Conformance_ConformanceRequest? {
    let length = try Descriptor.standardInput.readBytes(4)
    guard length.count == 4 else { return nil }
    let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
    return try Conformance_ConformanceRequest(serializedBytes: Descriptor.standardInput.readBytes(count))
  }
}
