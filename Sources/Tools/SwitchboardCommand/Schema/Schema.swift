import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardText

/// Validated descriptors, with an index of their declarations.
struct Schema: Sendable {
  /// The files, in the order of the source.
  let files: [Google_Protobuf_FileDescriptorProto]
  /// The types, for messages whose types are known only at run time.
  let pool: DescriptorPool
  /// The same types, for messages in an `Any`.
  let types: TypeRegistry
  /// Which methods take messages that are not protobuf.
  let marks: PayloadMarks
  private let symbols: [ExactText: Symbol]
  /// The full names of the services, sorted.
  private let serviceNames: [String]

  /// Throws if the files contradict each other or themselves, or if an import is missing.
  init(_ given: [Google_Protobuf_FileDescriptorProto]) throws(DescriptorError) {
    pool = try DescriptorPool(given)
    types = pool.typeRegistry
    var seen: Set<ExactText> = []
    files = given.filter { seen.insert($0.name) }
    marks = PayloadMarks(in: files)
    var index = SymbolIndex()
    for (number, file) in files.enumerated() { index.add(file, number) }
    symbols = index.symbols
    serviceNames = symbols.values.filter { $0.kind == .service }.map(\.fullName).sorted { $0.precedes($1) }
  }

  /// The declaration with a full name. A leading dot is ignored.
  func symbol(named name: String) -> Symbol? {
    symbols[Self.withoutDot(name)]
  }

  /// A full name without a leading dot.
  fileprivate static func withoutDot(_ name: String) -> String {
    name.begins(with: ".") ? String(Substring(name.utf8.dropFirst())) : name
  }

  /// All names, sorted.
  var symbolNames: [String] { symbols.keys.map(\.text).sorted { $0.precedes($1) } }

  /// All services, sorted by name.
  var services: [SchemaService] { serviceNames.compactMap { service(named: $0) } }

  /// The names of all methods, by those of their services.
  var methodNames: [String: [String]] {
    Dictionary(services.map { ($0.fullName, $0.methods.map(\.name)) }) { first, _ in first }
  }

  /// The service with a full name.
  func service(named name: String) -> SchemaService? {
    guard let symbol = symbol(named: name), symbol.kind == .service, let index = symbol.path.last else {
      return nil
    }
    let services = files[symbol.file].service
    guard services.indices.contains(Int(index)) else { return nil }
    return SchemaService(fullName: symbol.fullName, file: symbol.file, descriptor: services[Int(index)])
  }

  /// The method named `package.Service/Method` or `package.Service.Method`.
  func method(named name: String) -> SchemaMethod? {
    guard let parts = SchemaMethod.parts(of: name) else { return nil }
    return service(named: parts.service)?.methods.first { $0.name == parts.method }
  }
}

/// A service of a schema.
struct SchemaService: Sendable {
  let fullName: String
  /// The index of its file.
  let file: Int
  let descriptor: Google_Protobuf_ServiceDescriptorProto

  var methods: [SchemaMethod] { descriptor.method.map { SchemaMethod(service: fullName, descriptor: $0) } }
}

/// A method of a service.
struct SchemaMethod: Sendable {
  let service: String
  let descriptor: Google_Protobuf_MethodDescriptorProto

  var name: String { descriptor.name }
  /// `package.Service/Method`, as users write it and as in the path of a call.
  var path: String { "\(service)/\(name)" }
  /// The full names of the messages, without a leading dot.
  var requestType: String { Schema.withoutDot(descriptor.inputType) }
  var responseType: String { Schema.withoutDot(descriptor.outputType) }

  /// The parts of `package.Service/Method`, also with a leading slash, or `package.Service.Method`.
  static func parts(of name: String) -> (service: String, method: String)? {
    let name = name.drop { $0 == "/" || $0 == "." }
    let separator = name.lastIndex(of: "/") ?? name.lastIndex(of: ".")
    guard let separator, separator != name.startIndex else { return nil }
    let method = name[name.index(after: separator)...]
    return method.isEmpty ? nil : (String(name[..<separator]), String(method))
  }
}
