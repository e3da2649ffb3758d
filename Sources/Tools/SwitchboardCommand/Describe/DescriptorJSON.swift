import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// A descriptor in JSON, with the full name of what it describes.
struct DescriptorJSON {
  let text: String

  init(_ schema: Schema, _ symbol: Symbol) throws {
    let file = schema.files[symbol.file]
    guard let declaration = Declaration(symbol, in: file) else {
      throw Failure("\(symbol.fullName) is not in \(file.name)", code: .data)
    }
    var options = JSONEncodingOptions()
    options.typeRegistry = schema.types
    let descriptor: String =
      switch declaration {
      case .service(let service, _): try service.jsonString(options: options)
      case .method(let method): try method.jsonString(options: options)
      case .message(let message, _): try message.jsonString(options: options)
      case .enumeration(let type): try type.jsonString(options: options)
      case .value(let value): try value.jsonString(options: options)
      case .field(let field, _), .extension(let field, _): try field.jsonString(options: options)
      case .oneof(let oneof, _): try oneof.jsonString(options: options)
      }
    text =
      "{\"kind\": \(JSONText.string(symbol.kind.rawValue)), \"fullName\": \(JSONText.string(symbol.fullName)), "
      + "\"file\": \(JSONText.string(file.name)), \"descriptor\": \(descriptor)}"
  }
}
