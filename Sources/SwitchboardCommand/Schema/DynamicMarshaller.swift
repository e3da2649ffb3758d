import Switchboard
import SwitchboardProtobuf

/// Marshals messages of a type that is known only at run time.
struct DynamicMarshaller: Marshaller {
  let type: MessageTable

  /// A content type without a subtype means protobuf.
  func reads(_ subtype: ContentSubtype) -> Bool { subtype.isUnnamed || subtype == .proto }

  func encode(_ message: DynamicMessage) throws -> MessageBuffer {
    MessageBuffer(try message.serializedBytes())
  }

  func decode(_ bytes: RawSpan) throws -> DynamicMessage {
    try DynamicMessage(type, serializedBytes: BytesMarshaller().decode(bytes))
  }
}

/// A method whose messages are known only at run time.
typealias DynamicMethod = Method<DynamicMarshaller, DynamicMarshaller>

extension Schema {
  /// The method, ready to be called with a `MethodClient`.
  func dynamicMethod(_ method: SchemaMethod) throws(Failure) -> DynamicMethod {
    DynamicMethod(
      MethodDescriptor(service: method.service, method: method.name, type: method.type),
      requests: DynamicMarshaller(type: try messageType(method.requestType, of: method)),
      responses: DynamicMarshaller(type: try messageType(method.responseType, of: method))
    )
  }

  private func messageType(_ name: String, of method: SchemaMethod) throws(Failure) -> MessageTable {
    guard let type = pool.messageType(named: name) else {
      throw Failure("\(method.path) uses the message '\(name)', which is not declared", code: .data)
    }
    return type
  }
}

extension SchemaMethod {
  /// The kind of method.
  var type: GRPCCallType {
    switch (descriptor.clientStreaming, descriptor.serverStreaming) {
    case (false, false): .unary
    case (true, false): .clientStreaming
    case (false, true): .serverStreaming
    case (true, true): .bidirectionalStreaming
    }
  }
}
