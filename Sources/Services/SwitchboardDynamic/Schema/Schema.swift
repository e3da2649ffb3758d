import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardText

/// Validated descriptors, with an index of their declarations.
package struct Schema: Sendable {
  /// The files, in the order of the source.
  package let files: [Google_Protobuf_FileDescriptorProto]
  /// The types, for messages whose types are known only at run time.
  package let pool: DescriptorPool
  /// The same types, for messages in an `Any`.
  package let types: TypeRegistry
  /// Which methods take messages that are not protobuf.
  package let marks: PayloadMarks
  private let symbols: [ExactText: Symbol]
  /// The full names of the services, sorted.
  private let serviceNames: [String]

  /// Throws if the files contradict each other or themselves, or if an import is missing.
  package init(_ given: [Google_Protobuf_FileDescriptorProto]) throws(DescriptorError) {
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
  package func symbol(named name: String) -> Symbol? {
    symbols[Self.withoutDot(name)]
  }

  /// A full name without a leading dot.
  fileprivate static func withoutDot(_ name: String) -> String {
    name.begins(with: ".") ? String(Substring(name.utf8.dropFirst())) : name
  }

  /// All names, sorted.
  package var symbolNames: [String] { symbols.keys.map(\.text).sorted { $0.precedes($1) } }

  /// All services, sorted by name.
  package var services: [SchemaService] { serviceNames.compactMap { service(named: $0) } }

  /// The declaration of a message, and where it is.
  package func message(named name: String) -> (
    descriptor: Google_Protobuf_DescriptorProto, symbol: Symbol
  )? {
    guard let symbol = symbol(named: name), symbol.kind == .message else { return nil }
    return messages(to: symbol.path[...], in: symbol.file).last.map { ($0, symbol) }
  }

  /// The declaration of an enum.
  package func enumeration(named name: String) -> Google_Protobuf_EnumDescriptorProto? {
    guard let symbol = symbol(named: name), symbol.kind == .enum, let index = symbol.path.last else {
      return nil
    }
    let around = symbol.path.dropLast(2)
    let declared =
      around.isEmpty
      ? files[symbol.file].enumType : messages(to: around, in: symbol.file).last?.enumType ?? []
    return declared.indices.contains(Int(index)) ? declared[Int(index)] : nil
  }

  /// The messages on a path, in which numbers of fields and indexes take turns: the first is in the file, each other one in
  /// that before it. Empty if there is one that there is not.
  private func messages(to path: ArraySlice<Int32>, in file: Int) -> [Google_Protobuf_DescriptorProto] {
    var (found, declared) = ([] as [Google_Protobuf_DescriptorProto], files[file].messageType)
    for (offset, element) in path.enumerated() where offset % 2 == 1 {
      guard declared.indices.contains(Int(element)) else { return [] }
      found.append(declared[Int(element)])
      declared = declared[Int(element)].nestedType
    }
    return found
  }

  /// The service with a full name.
  package func service(named name: String) -> SchemaService? {
    guard let symbol = symbol(named: name), symbol.kind == .service, let index = symbol.path.last else {
      return nil
    }
    let services = files[symbol.file].service
    guard services.indices.contains(Int(index)) else { return nil }
    return SchemaService(fullName: symbol.fullName, file: symbol.file, descriptor: services[Int(index)])
  }

  /// The method named `package.Service/Method` or `package.Service.Method`.
  package func method(named name: String) -> SchemaMethod? {
    guard let parts = SchemaMethod.parts(of: name) else { return nil }
    return service(named: parts.service)?.methods.first { $0.name.isExactly(parts.method) }
  }
}

/// A service of a schema.
package struct SchemaService: Sendable {
  package let fullName: String
  /// The index of its file.
  package let file: Int
  package let descriptor: Google_Protobuf_ServiceDescriptorProto

  package var methods: [SchemaMethod] {
    descriptor.method.map { SchemaMethod(service: fullName, descriptor: $0) }
  }
}

/// A method of a service.
package struct SchemaMethod: Sendable {
  package let service: String
  package let descriptor: Google_Protobuf_MethodDescriptorProto

  package init(service: String, descriptor: Google_Protobuf_MethodDescriptorProto) {
    (self.service, self.descriptor) = (service, descriptor)
  }

  package var name: String { descriptor.name }
  /// `package.Service/Method`, as users write it and as in the path of a call.
  package var path: String { "\(service)/\(name)" }
  /// The full names of the messages, without a leading dot.
  package var requestType: String { Schema.withoutDot(descriptor.inputType) }
  package var responseType: String { Schema.withoutDot(descriptor.outputType) }

  /// The parts of `package.Service/Method`, also with a leading slash, or `package.Service.Method`.
  package static func parts(of name: String) -> (service: String, method: String)? {
    let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
    let name = name.utf8.drop { $0 == slash || $0 == dot }
    let separator = name.lastIndex(of: slash) ?? name.lastIndex(of: dot)
    guard let separator, separator != name.startIndex else { return nil }
    let method = name[name.index(after: separator)...]
    return method.isEmpty ? nil : (String(Substring(name[..<separator])), String(Substring(method)))
  }
}
