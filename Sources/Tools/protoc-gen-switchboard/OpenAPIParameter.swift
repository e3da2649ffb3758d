import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardToolSupport

/// The options of the plugin that ask for an OpenAPI document: `OpenAPI=shop.json`, and what the document contains in
/// addition.
struct OpenAPIParameter {
  /// The name of the file.
  let name: String
  let options: OpenAPIOptions
  /// The other options, which are the generator's.
  let rest: String

  /// `nil` if no document is asked for.
  init?(_ parameter: String) throws(GeneratorError) {
    var (name, options, rest): (String?, OpenAPIOptions, [String]) = (nil, OpenAPIOptions(), [])
    for item in try Self.items(in: parameter) {
      let parts = item.split(separator: "=", maxSplits: 1)
      let value = parts.count > 1 ? String(parts[1]) : ""
      switch parts.first {
      case "OpenAPI": name = value
      case "OpenAPITitle": options.title = value
      case "OpenAPIVersion": options.version = value
      case "OpenAPIServer": options.servers.append(value)
      case "OpenAPISecurity":
        guard let security = OpenAPIOptions.Security(value) else {
          throw GeneratorError("OpenAPISecurity is bearer, basic or apiKey:HEADER, not '\(value)'")
        }
        options.security.append(security)
      case let other? where other.lowercased().hasPrefix("openapi"):
        throw GeneratorError(
          "unknown option '\(other)': the options of documents are OpenAPI, OpenAPITitle, OpenAPIVersion, OpenAPIServer "
            + "and OpenAPISecurity"
        )
      default:
        rest.append(item)
        continue
      }
      guard !value.isEmpty else { throw GeneratorError("the option '\(item)' has no value") }
    }
    guard let name else {
      guard options == OpenAPIOptions() else {
        throw GeneratorError("the document has no file: OpenAPI=FILE names it")
      }
      return nil
    }
    guard FileNaming.isBelowOutput(name) else {
      throw GeneratorError("OpenAPI=\(name) is not a path below the output directory")
    }
    self.name = name
    self.options = options
    self.rest = OptionList.parameter(rest)
  }

  /// The options in a parameter. Only the last value of one that is given twice would count.
  private static func items(in parameter: String) throws(GeneratorError) -> [String] {
    let items = OptionList.options(in: parameter)
    for key in ["OpenAPI", "OpenAPITitle", "OpenAPIVersion"]
    where items.count(where: { $0.hasPrefix(key + "=") }) > 1 {
      throw GeneratorError("option \(key) is given twice")
    }
    return items
  }

  /// The parameter of a request, without reading anything else of it.
  static func parameter(of request: [UInt8]) -> String {
    var position = 0
    func varint() -> Int? {
      var value = 0
      for shift in stride(from: 0, to: 63, by: 7) {
        guard position < request.count else { return nil }
        let byte = request[position]
        position += 1
        value |= Int(byte & 0x7F) << shift
        if byte < 0x80 { return value }
      }
      return nil
    }
    var parameter = ""
    while position < request.count, let tag = varint() {
      // A request has only fields that are strings or messages.
      guard tag & 7 == 2, let length = varint(), length <= request.count - position else { break }
      if tag >> 3 == 2 {
        parameter = String(decoding: request[position..<(position + length)], as: UTF8.self)
      }
      position += length
    }
    return parameter
  }

  /// The request without these options, and the response's field with the document.
  func respond(to request: [UInt8]) throws -> (request: [UInt8], response: [UInt8]) {
    let document = try OpenAPIDocument(request: request, options: options)
    for warning in document.warnings { complain("protoc-gen-switchboard: warning: OpenAPI: \(warning)") }
    var decoded = try Google_Protobuf_Compiler_CodeGeneratorRequest(serializedBytes: request)
    decoded.parameter = rest
    var response = Google_Protobuf_Compiler_CodeGeneratorResponse()
    response.file = [
      .with {
        $0.name = name
        $0.content = document.json
      }
    ]
    return (try decoded.serializedBytes(), try response.serializedBytes())
  }
}
