import SwitchboardDynamic
import SwitchboardSchema
import SwitchboardText

/// A call as Swift, with the names that the generator gives by default.
struct SwiftCall: Sendable {
  /// The client and its method: `Shop_ShopClient(channel: channel).buy`.
  let method: String
  /// The type of the request: `Shop_Order`.
  let request: String

  /// `nil` if its messages are of no generated type.
  init?(_ method: SchemaMethod, _ schema: Schema) {
    guard schema.marks.formats(of: method.descriptor) == nil,
      let client = Self.name(of: method.service, schema),
      let request = Self.name(of: method.requestType, schema),
      let first = method.name.utf8.first
    else { return nil }
    let name = String(decoding: [first.lowercased] + method.name.utf8.dropFirst(), as: UTF8.self)
    self.method = "\(client)Client(channel: channel).\(name)"
    self.request = request
  }

  /// The type of a message, or the start of the names of a service's types.
  private static func name(of fullName: String, _ schema: Schema) -> String? {
    guard let symbol = schema.symbol(named: fullName) else { return nil }
    let file = schema.files[symbol.file]
    let length = file.package.isEmpty ? 0 : file.package.utf8.count + 1
    let own = String(decoding: fullName.utf8.dropFirst(length), as: UTF8.self)
    if file.options.hasSwiftPrefix { return file.options.swiftPrefix + own }
    return file.package.isEmpty ? own : SwiftNames.prefix(of: file.package) + own
  }
}
