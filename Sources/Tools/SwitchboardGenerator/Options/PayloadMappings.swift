import SwitchboardText

/// Messages that are represented by types of the user or sent by other marshallers.
struct PayloadMappings {
  /// The replacement for a message in the code of a service.
  struct Payload: Equatable {
    /// A type of the user that replaces the generated one.
    var swiftType: String?
    /// The type of a marshaller; `_` stands for the message's type.
    var marshaller: String
    /// The modules to import for both.
    var modules: [String]
  }

  private var everything: Payload?
  private var services: [String: Payload] = [:]
  private var methods: [String: Payload] = [:]
  private var messages: [String: Payload] = [:]
  /// What the blocks name, and where.
  private var selections: [Selection] = []

  private struct Selection {
    let selector: String
    let name: String
    let error: @Sendable (String) -> GeneratorError
  }

  /// No mappings: every message has its generated type and is sent as protobuf.
  init() {}

  /// Parses a file of blocks like these. The most specific block wins: that of the method, then of the message, then of
  /// the service, then one without a selector.
  ///
  ///     payload { message: "shop.Order" swift_type: "Order" module_name: "Model" marshaller: "CodableJSONMarshaller<_>" }
  ///     payload { service: "shop.Orders" marshaller: "ProtobufJSONMarshaller<_>" }
  ///
  /// `path` is that of the file, for errors.
  init(text: String, path: String? = nil) throws(GeneratorError) {
    var reader = MappingReader(
      text,
      title: "payload mappings" + (path.map { " in \($0)" } ?? ""),
      kind: "payload",
      fields: ["message", "service", "method", "swift_type", "marshaller", "module_name"]
    )
    while let block = try reader.next() { try add(block) }
  }

  private mutating func add(_ block: MappingReader.Block) throws(GeneratorError) {
    let payload = try Self.payload(in: block)
    let selectors: [(String, WritableKeyPath<PayloadMappings, [String: Payload]>)] = [
      ("message", \.messages), ("service", \.services), ("method", \.methods),
    ]
    for (selector, keyPath) in selectors {
      for name in block[selector] {
        guard self[keyPath: keyPath].updateValue(payload, forKey: name) == nil else {
          throw block.error("the \(selector) '\(name)' is mapped twice")
        }
        selections.append(Selection(selector: selector, name: name, error: block.error))
      }
    }
    let namesMessages = !block["message"].isEmpty
    let namesOthers = !block["service"].isEmpty || !block["method"].isEmpty
    guard payload.swiftType == nil || namesMessages && !namesOthers else {
      throw block.error("a swift_type needs the message that it replaces")
    }
    guard !namesMessages, !namesOthers else { return }
    guard everything == nil else { throw block.error("two payloads have no selector") }
    everything = payload
  }

  private static func payload(in block: MappingReader.Block) throws(GeneratorError) -> Payload {
    guard let marshaller = try block.single("marshaller") else {
      throw block.error("the payload needs a marshaller")
    }
    let type = try block.single("swift_type")
    for text in [type ?? marshaller, marshaller] where !text.isTypeText {
      throw block.error("'\(text)' is not the name of a Swift type")
    }
    for module in block["module_name"] where !module.isIdentifier {
      throw block.error("'\(module)' is not the name of a module")
    }
    return Payload(swiftType: type, marshaller: marshaller, modules: block["module_name"])
  }

  /// Throws for the first name that is not among `declared`, the names by their kind: it is misspelled, or belongs to another
  /// module, which has mappings of its own. So does one that is not among `served`, those of the services that are generated.
  func check(
    against declared: @autoclosure () -> [String: Set<String>],
    served: @autoclosure () -> [String: Set<String>]
  ) throws(GeneratorError) {
    // Without a selection, the names of a large request would be collected for nothing.
    guard !selections.isEmpty else { return }
    let (declared, served) = (declared(), served())
    for selection in selections {
      let (kind, name) = (selection.selector, selection.name)
      guard declared[kind]?.contains(name) == true else {
        throw selection.error(
          "no .proto file here has the \(kind) '\(name)'\(advice(for: name, declared[kind]))"
        )
      }
      guard served[kind]?.contains(name) == true else {
        let reason =
          kind == "message" ? "is not what a method that is generated takes or returns" : "is only imported"
        throw selection.error("the payload has no effect: the \(kind) '\(name)' \(reason)")
      }
    }
  }

  /// How a name is written that was meant: that of a method with a slash, or one without its package.
  private func advice(for name: String, _ declared: Set<String>?) -> String {
    let dotted = name.split(separator: "/", omittingEmptySubsequences: false).joined(separator: ".")
    let meant = (declared ?? []).filter { $0 == dotted || $0.hasSuffix(".\(dotted)") }
    guard let first = meant.first, meant.count == 1 else { return "" }
    return ": it is written '\(first)'"
  }

  /// The replacement for a message in a method; `nil` if there is none.
  func payload(of message: String, in method: String, of service: String) -> Payload? {
    let own = messages[message]
    guard var nearest = methods["\(service).\(method)"] ?? own ?? services[service] ?? everything else {
      return nil
    }
    // The marshaller of the method applies to the message's type, whether mapped or generated.
    if let own, nearest != own {
      nearest.swiftType = own.swiftType
      nearest.modules += own.modules
    }
    return nearest
  }
}

extension PayloadMappings.Payload {
  /// The expression for the marshaller of a message.
  func marshaller(for type: String) -> String {
    var text = ""
    var word = ""
    for character in marshaller + " " {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
      } else {
        text += word == "_" ? type : word
        text.append(character)
        word = ""
      }
    }
    return text.dropLast() + "()"
  }
}

extension String {
  /// Whether this can be the name of a type with generic arguments, and nothing else.
  fileprivate var isTypeText: Bool {
    guard let first, first.isLetter || first == "_" || first == "[" else { return false }
    return allSatisfy { $0.isLetter || $0.isNumber || "_.<>,:[]? ".contains($0) }
  }
}
