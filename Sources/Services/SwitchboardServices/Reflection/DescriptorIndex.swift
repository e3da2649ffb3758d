import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardText

/// The descriptors of a server's services, indexed by the names of declarations.
struct DescriptorIndex {
  /// A file as reflection sends it.
  struct File {
    let bytes: [UInt8]
    let imports: [String]
  }

  /// The full names of the services, sorted.
  private(set) var services: [String] = []
  /// The files, by name.
  private(set) var files: [ExactText: File] = [:]
  /// The full names of all messages.
  private(set) var messages: Set<ExactText> = []
  /// The file that declares each extension, by the full name of the message and the number.
  private(set) var extensions: [ExactText: [Int32: String]] = [:]
  /// The file that declares each symbol, by the symbol's full name.
  private var symbols: [ExactText: String] = [:]

  init() {}

  /// The services of providers, whose methods are marked where their messages are not protobuf.
  init(describing providers: [any CallHandlerProvider]) throws(GRPCStatus) {
    let payloads = providers.map(ServicePayloads.init)
    for (provider, payload) in zip(providers, payloads) {
      let data = provider.reflectionData
      try add(service: provider.serviceName, data.isEmpty ? payload.declaration : data) { file in
        // A file may have several services.
        payloads.reduce(false) { isChanged, payload in
          file.mark(payload.formats, of: payload.name) || isChanged
        }
      }
    }
  }

  /// Adds a service, with its file and the imports of that, each serialized and in Base64. `change` may change a file, and
  /// returns whether it did.
  mutating func add(
    service: String,
    _ data: [String],
    change: (inout Google_Protobuf_FileDescriptorProto) -> Bool = { _ in false }
  ) throws(GRPCStatus) {
    if !services.contains(service) { services = (services + [service]).sorted() }
    for text in data {
      do {
        var bytes = Base64.decode(text.utf8) ?? []
        var file = try Google_Protobuf_FileDescriptorProto(serializedBytes: bytes)
        if change(&file) { bytes = try file.serializedBytes() }
        add(file, bytes)
      } catch {
        throw GRPCStatus(code: .internalError, message: "invalid descriptor of \(service): \(error)")
      }
    }
  }

  private mutating func add(_ file: Google_Protobuf_FileDescriptorProto, _ bytes: [UInt8]) {
    guard files[file.name] == nil else { return }
    files[file.name] = File(bytes: bytes, imports: file.dependency)
    let scope = file.package
    for message in file.messageType { add(message, in: scope, of: file.name) }
    for type in file.enumType { add(type, in: scope, of: file.name) }
    for field in file.`extension` { add(extension: field, in: scope, of: file.name) }
    for service in file.service {
      let name = declare(service.name, in: scope, of: file.name)
      for method in service.method { declare(method.name, in: name, of: file.name) }
    }
  }

  private mutating func add(_ message: Google_Protobuf_DescriptorProto, in scope: String, of file: String) {
    let name = declare(message.name, in: scope, of: file)
    _ = messages.insert(name)
    for field in message.field { declare(field.name, in: name, of: file) }
    for oneof in message.oneofDecl { declare(oneof.name, in: name, of: file) }
    for nested in message.nestedType { add(nested, in: name, of: file) }
    for type in message.enumType { add(type, in: name, of: file) }
    for field in message.`extension` { add(extension: field, in: name, of: file) }
  }

  private mutating func add(_ type: Google_Protobuf_EnumDescriptorProto, in scope: String, of file: String) {
    declare(type.name, in: scope, of: file)
    // Enum values are in the scope that contains the enum.
    for value in type.value { declare(value.name, in: scope, of: file) }
  }

  private mutating func add(
    extension field: Google_Protobuf_FieldDescriptorProto,
    in scope: String,
    of file: String
  ) {
    declare(field.name, in: scope, of: file)
    extensions[ExactText(Self.withoutDot(field.extendee)), default: [:]][field.number] = file
  }

  @discardableResult
  private mutating func declare(_ name: String, in scope: String, of file: String) -> String {
    let full = scope.isEmpty ? name : "\(scope).\(name)"
    symbols[full] = file
    return full
  }

  func file(declaring symbol: String) -> String? { symbols[Self.withoutDot(symbol)] }

  /// A file and all its direct and indirect imports, starting with the file itself.
  func filesReached(from first: String) -> [String] {
    var reached = [first]
    var seen: Set = [first]
    var next = 0
    while next < reached.count {
      for name in files[reached[next]]?.imports ?? [] where seen.insert(name).inserted {
        reached.append(name)
      }
      next += 1
    }
    return reached
  }

  /// A full name without the leading dot that some tools send.
  static func withoutDot(_ name: String) -> String {
    name.begins(with: ".") ? String(Substring(name.utf8.dropFirst())) : name
  }
}

extension DescriptorIndex {
  /// Converts the file of `grpc.reflection.v1` to that of `v1alpha`, which differs only in the package.
  static func alpha(_ file: inout Google_Protobuf_FileDescriptorProto) -> Bool {
    let package = file.package
    func renamed(_ type: String) -> String { ".\(package)alpha" + type.dropFirst(package.utf8.count + 1) }
    file.name = "grpc/reflection/v1alpha/reflection.proto"
    file.package = "\(package)alpha"
    for message in file.messageType.indices {
      for field in file.messageType[message].field.indices
      where file.messageType[message].field[field].hasTypeName {
        file.messageType[message].field[field].typeName = renamed(
          file.messageType[message].field[field].typeName
        )
      }
    }
    for service in file.service.indices {
      for method in file.service[service].method.indices {
        file.service[service].method[method].inputType = renamed(
          file.service[service].method[method].inputType
        )
        file.service[service].method[method].outputType = renamed(
          file.service[service].method[method].outputType
        )
      }
    }
    return true
  }
}
