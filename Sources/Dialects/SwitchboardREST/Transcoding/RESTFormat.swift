import Switchboard
import SwitchboardProtobuf

/// The form of a method's messages on one of its routes. An object, because options have many parts to copy.
final class RESTFormat: MethodFormat {
  let route: RESTRoute
  let decoding: JSONDecodingOptions
  let encoding: JSONEncodingOptions
  /// Whether the bytes of requests are their bodies, without the parts before it.
  let requestsAreBodies: Bool

  init(
    _ route: RESTRoute,
    _ decoding: JSONDecodingOptions,
    _ encoding: JSONEncodingOptions,
    requestsAreBodies: Bool
  ) {
    self.route = route
    self.requestsAreBodies = requestsAreBodies
    self.decoding = decoding
    self.encoding = encoding
  }

  func requests<Own: Marshaller>(over own: Own) -> any Marshaller<Own.Message> {
    RESTMarshaller(self, route.request, own)
  }

  func responses<Own: Marshaller>(over own: Own) -> any Marshaller<Own.Message> {
    RESTMarshaller(self, route.response, own)
  }
}

/// Makes requests of their parts, and bodies of responses.
struct RESTMarshaller<Message: Sendable>: Marshaller {
  private let format: RESTFormat
  private let type: TypeOfRoute<Message>

  /// For messages that a descriptor describes, and that `own` marshals in binary.
  init(_ format: RESTFormat, _ described: MessageTable, _ own: some Marshaller<Message>) {
    self.format = format
    type = TypeOfRoute(described, own)
  }

  func decode(_ bytes: RawSpan) throws -> Message {
    let message: DynamicMessage
    do throws(GRPCStatus) {
      let parts = format.requestsAreBodies ? RequestParts(body: bytes) : RequestParts(bytes, of: format.route)
      message = try format.message(parts, in: type.table)
    } catch {
      throw RefusedMessage(error)
    }
    return try type.typed(message)
  }

  func encode(_ message: Message) throws -> MessageBuffer {
    try ResponseContent.buffer(try type.dynamic(message), of: format.route, options: format.encoding)
  }
}

/// How the fields that a descriptor describes are those of a handler's messages.
struct TypeOfRoute<Message: Sendable>: Sendable {
  /// The table of the fields.
  let table: MessageTable
  let typed: @Sendable (DynamicMessage) throws -> Message
  let dynamic: @Sendable (Message) throws -> DynamicMessage
}

extension TypeOfRoute {
  /// They are the same if this package has generated the type, from the same description. Otherwise messages of the described
  /// type are converted by `own`, in binary: SwiftProtobuf's, and those for which a file declares extensions.
  init(_ described: MessageTable, _ own: some Marshaller<Message>) {
    if let type = Message.self as? any SwitchboardProtobuf.Message.Type, described.describes(type),
      let generated = Self.generated(type)
    {
      self = generated
    } else {
      table = described
      typed = { message in try MessageBuffer(message.serializedBytes()).withBytes { try own.decode($0) } }
      dynamic = { message in
        let bytes = try own.encode(message).withBytes { BytesMarshaller().decode($0) }
        return try DynamicMessage(described, serializedBytes: bytes)
      }
    }
  }

  private static func generated<M: SwitchboardProtobuf.Message>(_ type: M.Type) -> TypeOfRoute? {
    TypeOfRoute<M>(
      table: MessageTable(of: M.self),
      typed: { message in try message.typed(as: M.self) },
      dynamic: { message in DynamicMessage(message) }
    ) as? TypeOfRoute
  }
}
