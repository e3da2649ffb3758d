/// The Swift names of a method and its messages.
struct MethodCode {
  let schema: MethodSchema
  /// The name in the `.proto` file.
  var name: String { schema.name }
  /// The name within composed ones, such as `makeGetCall`.
  private var capitalized: String { name.capitalized }
  /// The name in Swift after a dot; below, in declarations.
  let swiftName: String
  let request: String
  let response: String
  /// The mapping of each message; `nil` if it is sent as protobuf.
  let requestPayload: PayloadMappings.Payload?
  let responsePayload: PayloadMappings.Payload?

  var kind: MethodSchema.Kind { schema.kind }
  /// The argument that says what calling it twice does, after others; empty if nothing is known.
  var idempotencyArgument: String { schema.idempotency.map { ", idempotency: .\($0.rawValue)" } ?? "" }
  var declaredName: String { ReservedWords.methodName(swiftName) }
  var makeCall: String { schema.makeCall }
  var makeInterceptors: String { "make\(capitalized)Interceptors" }
  // Of clients for tests.
  var makeResponse: String { "make\(capitalized)ResponseStream" }
  var enqueueResponse: String { "enqueue\(capitalized)Response\(kind.streamsResponses ? "s" : "")" }
  var enqueueError: String { "enqueue\(capitalized)Error" }
  var hasResponses: String { "has\(capitalized)ResponsesRemaining" }

  /// The methods of a service with their names.
  static func all(of service: ServiceSchema, in context: FileContext) -> [MethodCode] {
    let names = MethodNames.assign(
      to: service.methods.map(\.name),
      besides: service.methods.map(\.makeCall),
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

  /// The expressions that create the marshallers; `nil` if both are protobuf's.
  var marshallers: (request: String, response: String)? {
    guard requestPayload != nil || responsePayload != nil else { return nil }
    return (marshaller(of: request, requestPayload), marshaller(of: response, responsePayload))
  }

  private func marshaller(of message: String, _ payload: PayloadMappings.Payload?) -> String {
    payload?.marshaller(for: message) ?? "\(MethodCode.library("ProtobufMarshaller"))<\(message)>()"
  }

  /// A name of the library, qualified with the module because a type of the user may have the same name.
  static func library(_ name: String) -> String { "\(libraryModule).\(name)" }

  /// The same for what only clients for tests use.
  static func testing(_ name: String) -> String { "\(testingModule).\(name)" }

  /// The generic parameter of a method that takes a sequence; it must not shadow a message.
  var sequence: String { MethodCode.unused("Requests", by: [self]) }

  /// `name`, or a variant of it that is not the name of a message of `methods`.
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

/// The module that generated services import.
let libraryModule = "Switchboard"
/// The module that generated clients for tests import too.
let testingModule = "SwitchboardTesting"
