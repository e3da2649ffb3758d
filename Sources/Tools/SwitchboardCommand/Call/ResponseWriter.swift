import SwitchboardDynamic
import SwitchboardProtobuf

/// Writes responses to standard output as they arrive.
struct ResponseWriter {
  private var types: TypeRegistry
  private let source: SchemaSource
  private let settings: CallSettings
  private let paint = Painter(Terminal.current())

  init(_ schema: Schema, _ source: SchemaSource, _ settings: CallSettings) {
    types = DetailTypes.registry(with: schema)
    self.source = source
    self.settings = settings
  }

  func write(_ response: DynamicPayload) async throws {
    if case .message(let message) = response {
      try await write(message)
    } else {
      try write(json: response.json(options(types)))
    }
  }

  private func write(json bytes: [UInt8]) throws {
    try Output.write(JSONPainter(paint, isPretty: settings.isPretty).text(of: bytes))
  }

  private func write(_ response: DynamicMessage) async throws {
    switch settings.format {
    case .json:
      let bytes: [UInt8]
      do {
        bytes = try response.jsonUTF8Bytes(options: options(types))
      } catch {
        // An `Any` may contain a type that only other services of the server use.
        guard let whole = try? await source.wholeSchema() else { throw error }
        bytes = try response.jsonUTF8Bytes(options: options(DetailTypes.registry(with: whole)))
      }
      try write(json: bytes)
    case .text:
      var options = TextFormatEncodingOptions()
      options.singleLine = !settings.isPretty
      options.typeRegistry = types
      let text = response.textFormatString(options: options)
      try Output.write(
        ShownText(lines: text, as: .proto),
        end: text.utf8.last == UInt8(ascii: "\n") ? "" : "\n"
      )
      if settings.isPretty { try Output.write("---") }
    }
  }

  private func options(_ types: TypeRegistry) -> JSONEncodingOptions {
    var options = JSONEncodingOptions()
    options.alwaysPrintFieldsWithNoPresence = settings.emitsDefaults
    options.deterministic = true
    options.typeRegistry = types
    return options
  }
}
