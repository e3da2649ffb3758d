import Switchboard
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardText

/// The full status of a failed call, with its details, including those of the server's own types.
struct StatusReport {
  let failure: Failure

  init(_ status: GRPCStatus, _ target: Target, _ source: SchemaSource, _ schema: Schema) async {
    var failure = target.failure(status)
    let details = ((try? status.richStatus) ?? nil)?.details ?? []
    if !details.isEmpty { failure.hints.append("details:") }
    // Counted, because a server may send very many details.
    var queryCount = 0
    for detail in details.prefix(50) {
      let text = await Self.text(of: detail, source, schema, &queryCount)
      failure.hints += text
    }
    self.failure = failure
  }

  /// How many types the server may be queried for.
  private static let maxTypeQueries = 5

  private static func text(
    of detail: Google_Protobuf_Any,
    _ source: SchemaSource,
    _ schema: Schema,
    _ queryCount: inout Int
  ) async -> [ShownText] {
    if let text = text(of: detail, DetailTypes.registry(with: schema)) { return text }
    // Reflection also finds types that no method uses.
    if let name = detail.typeName, queryCount < maxTypeQueries {
      queryCount += 1
      if let other = try? await source.schema(declaring: name),
        let text = text(of: detail, DetailTypes.registry(with: other))
      {
        return text
      }
    }
    let bytes = Base64Argument.encode(detail.value.prefix(4096))
    return [
      "  {\"@type\": \(ShownText(JSONText.string(detail.typeURL), as: .json)), \"value\": \"\(bytes)\"}"
    ]
  }

  private static func text(of detail: Google_Protobuf_Any, _ types: TypeRegistry) -> [ShownText]? {
    var options = JSONEncodingOptions()
    options.typeRegistry = types
    guard let bytes = try? detail.jsonUTF8Bytes(options: options) else { return nil }
    return JSONPainter(.plain, isPretty: true).lines(of: bytes).map { "  " + $0 }
  }
}
