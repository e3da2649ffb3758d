import SwitchboardProtobuf
import TestSupport
import Testing

@testable import SwitchboardTelemetry

/// The worst text of Unicode in the headers of a trace takes a time in proportion to its length.
@Suite struct WorstTextTests {
  private static let places: [(name: String, work: @Sendable (String) throws -> Void)] = [
    ("baggage", { _ = Baggage(fields: ["\($0)=1,a=\($0),b= \($0) ;\($0)"]) }),
    ("a name of baggage", { _ = Baggage(fields: ["a=1"])["a\($0)"] }),
    ("a trace's state", { _ = TraceState.read(["\($0)=1", "a= \($0) "]) }),
    ("spaces", { _ = " \($0) ".trimmed }),
    (
      "details of a collector's status",
      { text in
        let any = try Google_Protobuf_Any.with { $0.typeURL = "\(text)/\(text)" }.serializedBytes()
        var length = UInt64(any.count)
        var bytes: [UInt8] = [0x1A]
        while length > 0x7F {
          bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
          length >>= 7
        }
        _ = try RetryDetails(bytes + [UInt8(length)] + any)
      }
    ),
  ]

  /// The fields of one call are at most 16 KiB, above which baggage and states are not read.
  @Test(arguments: places.indices, WorstText.allCases)
  func textTakesLinearTime(place: Int, text: WorstText) {
    let (name, work) = Self.places[place]
    Growth.check("\(name): \(text)", size: 2 << 10, text.text) { try? work($0) }
  }
}
