import Switchboard
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// The methods that a mock serves, and their types.
package struct MockSchema: Sendable {
  package let files: [Google_Protobuf_FileDescriptorProto]
  /// The methods by service, in the order of the files.
  let services: [(name: String, methods: [MockMethod])]
  let types: TypeRegistry
  /// The same types, by name.
  package let pool: DescriptorPool

  var jsonOptions: JSONDecodingOptions {
    var options = JSONDecodingOptions()
    options.typeRegistry = types
    return options
  }

  /// Collects the services of `files`, which must include all imports.
  package init(_ files: [Google_Protobuf_FileDescriptorProto]) throws(DescriptorError) {
    let pool = try DescriptorPool(files)
    var seen: Set<ExactText> = []
    self.files = files.filter { seen.insert($0.name) }
    var services: [(name: String, methods: [MockMethod])] = []
    for file in self.files {
      for service in file.service {
        let name = file.package.isEmpty ? service.name : "\(file.package).\(service.name)"
        let methods = service.method.compactMap { MockMethod($0, of: name, pool) }
        services.append((name, methods))
      }
    }
    self.services = services
    self.pool = pool
    types = pool.typeRegistry
  }

  package var serviceNames: [String] { services.map(\.name) }

  /// The methods that a rule's `method` selects: `shop.Shop/Get`, `shop.Shop/*` or `*`.
  func methods(matching name: String) -> [MockMethod] {
    let name = name.begins(with: "/") ? String(Substring(name.utf8.dropFirst())) : name
    return services.flatMap(\.methods).filter { method in
      ["*", method.path, "\(method.service)/*", "\(method.service).\(method.name)"].contains {
        name.isExactly($0)
      }
    }
  }
}

/// A method that a mock serves.
struct MockMethod: Sendable {
  let service: String
  let name: String
  let type: GRPCCallType
  let request: MessageTable
  let response: MessageTable
  private let idempotency: MethodIdempotency

  /// `shop.Shop/Get`
  var path: String { "\(service)/\(name)" }

  /// Nil if the types are not declared.
  init?(_ descriptor: Google_Protobuf_MethodDescriptorProto, of service: String, _ pool: DescriptorPool) {
    let method = SchemaMethod(service: service, descriptor: descriptor)
    guard let request = pool.messageType(named: method.requestType),
      let response = pool.messageType(named: method.responseType)
    else { return nil }
    self.service = service
    self.request = request
    self.response = response
    name = descriptor.name
    idempotency =
      switch descriptor.options.idempotencyLevel {
      case .noSideEffects: .noSideEffects
      case .idempotent: .idempotent
      default: .unknown
      }
    type = method.type
  }

  var descriptor: MethodDescriptor {
    MethodDescriptor(service: service, method: name, type: type, idempotency: idempotency)
  }
}

extension [MockMethod] {
  /// JSON for the messages of one of these methods.
  func jsonFormat(of descriptor: MethodDescriptor, _ types: TypeRegistry) -> [any PayloadFormat] {
    filter { $0.name.utf8.elementsEqual(descriptor.method.utf8) }.map { MockJSON(method: $0, types: types) }
  }
}

/// Messages of a type that is known only at run time. `required` fields may be missing.
struct MockMarshaller: Marshaller {
  let type: MessageTable

  func reads(_ subtype: ContentSubtype) -> Bool { subtype.isUnnamed || subtype == .proto }

  func encode(_ message: DynamicMessage) throws -> MessageBuffer {
    MessageBuffer(try message.serializedBytes(partial: true))
  }

  func decode(_ bytes: RawSpan) throws -> DynamicMessage {
    try DynamicMessage(type, serializedBytes: BytesMarshaller().decode(bytes), partial: true)
  }
}
