/// What stands in Swift for a method and its messages.
struct MethodCode {
  let schema: MethodSchema
  /// As it is declared in the `.proto` file.
  var name: String { schema.name }
  /// As it stands after a dot, and as it is declared in Swift.
  let swiftName: String
  let request: String
  let response: String
  /// What the mappings say of the messages; `nil` where they travel as protobuf.
  let requestPayload: PayloadMappings.Payload?
  let responsePayload: PayloadMappings.Payload?

  var kind: MethodSchema.Kind { schema.kind }
  var declaredName: String { ReservedWords.methodName(swiftName) }
  var makeInterceptors: String { "make\(name)Interceptors" }

  /// The methods of a service, named.
  static func all(of service: ServiceSchema, in context: FileContext) -> [MethodCode] {
    let names = MethodNames.assign(
      to: service.methods.map(\.name),
      keepsCasing: context.options.keepsMethodCasing
    )
    return zip(service.methods, names).map { method, name in
      let payloads = [method.request, method.response].map { message in
        context.payloads.payload(
          of: context.schema.messages[message].fullName,
          in: method.name,
          of: service.fullName
        )
      }
      return MethodCode(
        schema: method,
        swiftName: name,
        request: payloads[0]?.swiftType ?? context.name(ofMessage: method.request),
        response: payloads[1]?.swiftType ?? context.name(ofMessage: method.response),
        requestPayload: payloads[0],
        responsePayload: payloads[1]
      )
    }
  }

  /// The expressions that make the marshallers; `nil` where both are protobuf's.
  var marshallers: (request: String, response: String)? {
    guard requestPayload != nil || responsePayload != nil else { return nil }
    return (marshaller(of: request, requestPayload), marshaller(of: response, responsePayload))
  }

  private func marshaller(of message: String, _ payload: PayloadMappings.Payload?) -> String {
    payload?.marshaller(for: message) ?? "\(MethodCode.library("ProtobufMarshaller"))<\(message)>()"
  }

  /// A name of the library. With the module before it, since types of the user could have the same.
  static func library(_ name: String) -> String { "\(libraryModule).\(name)" }

  /// The generic parameter of a method that takes a sequence, which must not hide a message.
  var sequence: String { MethodCode.unused("Requests", by: [self]) }

  /// `name`, or something like it that no message of `methods` goes by.
  static func unused(_ name: String, by methods: [MethodCode]) -> String {
    var firsts: Set<Substring> = []
    for method in methods {
      for message in [method.request, method.response] { firsts.insert(message.prefix { $0 != "." }) }
    }
    var name = name
    while firsts.contains(name[...]) { name += "_" }
    return name
  }
}

/// The module that generated services stand on.
let libraryModule = "Switchboard"
