import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf

/// Marshals messages of a type that is known only at run time.
package struct DynamicMarshaller: Marshaller {
  package let kind: PayloadKind

  package var contentSubtype: ContentSubtype {
    switch kind {
    case .message: .unnamed
    case .json: .json
    case .bytes(let subtype): subtype
    }
  }

  /// A content type without a subtype means the method's own format.
  package func reads(_ subtype: ContentSubtype) -> Bool {
    if case .message = kind, subtype == .proto { return true }
    return subtype.isUnnamed || subtype == contentSubtype
  }

  package func encode(_ message: DynamicPayload) throws -> MessageBuffer {
    MessageBuffer(try message.encoded())
  }

  package func decode(_ bytes: RawSpan) throws -> DynamicPayload {
    let bytes = BytesMarshaller().decode(bytes)
    return switch kind {
    case .message(let type): .message(try DynamicMessage(type, serializedBytes: bytes))
    case .json: try kind.payload(json: bytes, TypeRegistry())
    case .bytes: .bytes(bytes)
    }
  }
}

/// A method whose messages are known only at run time.
package typealias DynamicMethod = Method<DynamicMarshaller, DynamicMarshaller>

extension Schema {
  /// The method, ready to be called with a `MethodClient`.
  package func dynamicMethod(_ method: SchemaMethod) throws(SchemaFailure) -> DynamicMethod {
    let formats = marks.formats(of: method.descriptor)
    return DynamicMethod(
      MethodDescriptor(service: method.service, method: method.name, type: method.type),
      requests: DynamicMarshaller(kind: try kind(method.requestType, formats?.requests)),
      responses: DynamicMarshaller(kind: try kind(method.responseType, formats?.responses))
    )
  }

  /// What a message with this name is in a format; in none, or an empty one, it is protobuf.
  package func kind(_ name: String, _ format: String?) throws(SchemaFailure) -> PayloadKind {
    if let format, !format.isEmpty {
      return ContentSubtype(format) == .json ? .json : .bytes(ContentSubtype(format))
    }
    guard let type = pool.messageType(named: name) else {
      throw SchemaFailure(.data, "a method uses the message '\(name)', which is not declared")
    }
    return .message(type)
  }
}

extension SchemaMethod {
  /// The kind of method.
  package var type: GRPCCallType {
    switch (descriptor.clientStreaming, descriptor.serverStreaming) {
    case (false, false): .unary
    case (true, false): .clientStreaming
    case (false, true): .serverStreaming
    case (true, true): .bidirectionalStreaming
    }
  }
}
