import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf

extension ProtoPrinter {
  /// Prints one declaration without its context.
  mutating func print(_ symbol: Symbol) {
    guard let found = Declaration(symbol, in: file) else { return }
    switch found {
    case .service(_, let index): service(index)
    case .method(let method): self.method(method, symbol.path)
    case .message(let message, let scope): self.message(message, in: scope, symbol.path)
    case .enumeration(let type): enumeration(type, symbol.path)
    case .value(let value): self.value(value, symbol.path)
    case .field(let field, let container): self.field(field, container, symbol.path)
    case .extension(let field, let scope):
      block("\(keyword("extend")) \(type(relative(field.extendee, in: scope)))") { printer in
        printer.field(field, nil, in: scope, symbol.path)
      }
    case .oneof(let declaration, let message):
      block("\(keyword("oneof")) \(declaration.name)") { printer in
        for (index, field) in message.message.field.enumerated()
        where field.isInOneof && Int(field.oneofIndex) < message.message.oneofDecl.count
          && message.message.oneofDecl[max(0, Int(field.oneofIndex))].name == declaration.name
        {
          printer.field(field, message, message.path + [Number.messageField, Int32(index)])
        }
      }
    }
  }
}

/// The declaration at the path of a symbol.
enum Declaration {
  case service(Google_Protobuf_ServiceDescriptorProto, Int)
  case method(Google_Protobuf_MethodDescriptorProto)
  case message(Google_Protobuf_DescriptorProto, scope: String)
  case enumeration(Google_Protobuf_EnumDescriptorProto)
  case value(Google_Protobuf_EnumValueDescriptorProto)
  case field(Google_Protobuf_FieldDescriptorProto, ProtoPrinter.Container)
  case `extension`(Google_Protobuf_FieldDescriptorProto, scope: String)
  case oneof(Google_Protobuf_OneofDescriptorProto, ProtoPrinter.Container)

  private typealias Number = SymbolIndex.Number

  /// Nil for an invalid path. The paths of symbols come from the same file, so they are always valid.
  init?(_ symbol: Symbol, in file: Google_Protobuf_FileDescriptorProto) {
    var path = symbol.path[...]
    guard let first = path.popFirst(), let index = path.popFirst().map(Int.init), index >= 0 else {
      return nil
    }
    switch first {
    case Number.fileService:
      guard file.service.indices.contains(index) else { return nil }
      let service = file.service[index]
      guard path.count == 2, let method = path.last.map(Int.init) else {
        self = .service(service, index)
        return
      }
      guard service.method.indices.contains(method) else { return nil }
      self = .method(service.method[method])
    case Number.fileEnum:
      guard file.enumType.indices.contains(index) else { return nil }
      self.init(file.enumType[index], path)
    case Number.fileExtension:
      guard file.extension.indices.contains(index) else { return nil }
      self = .extension(file.extension[index], scope: file.package)
    case Number.fileMessage:
      guard file.messageType.indices.contains(index) else { return nil }
      self.init(file.messageType[index], in: file.package, path, Array(symbol.path.prefix(2)))
    default: return nil
    }
  }

  private init?(_ type: Google_Protobuf_EnumDescriptorProto, _ path: ArraySlice<Int32>) {
    guard path.count == 2, let index = path.last.map(Int.init) else {
      self = .enumeration(type)
      return
    }
    guard type.value.indices.contains(index) else { return nil }
    self = .value(type.value[index])
  }

  private init?(
    _ message: Google_Protobuf_DescriptorProto,
    in scope: String,
    _ rest: ArraySlice<Int32>,
    _ path: [Int32]
  ) {
    var rest = rest
    guard let kind = rest.popFirst(), let index = rest.popFirst().map(Int.init), index >= 0 else {
      self = .message(message, scope: scope)
      return
    }
    let fullName = scope.isEmpty ? message.name : "\(scope).\(message.name)"
    let container = ProtoPrinter.Container(message: message, fullName: fullName, path: path)
    switch kind {
    case Number.messageField:
      guard message.field.indices.contains(index) else { return nil }
      self = .field(message.field[index], container)
    case Number.messageNested:
      guard message.nestedType.indices.contains(index) else { return nil }
      self.init(
        message.nestedType[index],
        in: fullName,
        rest,
        path + [kind, Int32(truncatingIfNeeded: index)]
      )
    case Number.messageEnum:
      guard message.enumType.indices.contains(index) else { return nil }
      self.init(message.enumType[index], rest)
    case Number.messageExtension:
      guard message.extension.indices.contains(index) else { return nil }
      self = .extension(message.extension[index], scope: fullName)
    case Number.messageOneof:
      guard message.oneofDecl.indices.contains(index) else { return nil }
      self = .oneof(message.oneofDecl[index], container)
    default: return nil
    }
  }
}
