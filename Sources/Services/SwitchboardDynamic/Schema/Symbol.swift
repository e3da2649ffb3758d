import SwitchboardDescriptors
import SwitchboardText

/// A declaration in a schema: its kind and its position.
package struct Symbol: Sendable, Hashable {
  package enum Kind: String, Sendable {
    case service, method, message, field, oneof, `enum`, value, `extension`
  }

  package let kind: Kind
  package let fullName: String
  /// The index of the file.
  package let file: Int
  /// The path in the file: alternating field numbers of descriptors and indexes, as in `SourceCodeInfo`.
  package let path: [Int32]
}

/// Collects all declarations of files.
package struct SymbolIndex {
  private(set) var symbols: [ExactText: Symbol] = [:]

  /// The numbers of fields in `descriptor.proto`, which paths consist of.
  package enum Number {
    package static let fileMessage: Int32 = 4
    package static let fileEnum: Int32 = 5
    package static let fileService: Int32 = 6
    package static let fileExtension: Int32 = 7
    package static let serviceMethod: Int32 = 2
    package static let messageField: Int32 = 2
    package static let messageNested: Int32 = 3
    package static let messageEnum: Int32 = 4
    package static let messageExtension: Int32 = 6
    package static let messageOneof: Int32 = 8
    package static let enumValue: Int32 = 2
  }

  mutating func add(_ file: Google_Protobuf_FileDescriptorProto, _ number: Int) {
    let scope = file.package
    for (index, message) in file.messageType.enumerated() {
      add(message, in: scope, number, [Number.fileMessage, Int32(truncatingIfNeeded: index)])
    }
    for (index, type) in file.enumType.enumerated() {
      add(type, in: scope, number, [Number.fileEnum, Int32(truncatingIfNeeded: index)])
    }
    for (index, field) in file.extension.enumerated() {
      declare(
        .extension,
        field.name,
        scope,
        number,
        [Number.fileExtension, Int32(truncatingIfNeeded: index)]
      )
    }
    for (index, service) in file.service.enumerated() {
      let path = [Number.fileService, Int32(truncatingIfNeeded: index)]
      let name = declare(.service, service.name, scope, number, path)
      for (index, method) in service.method.enumerated() {
        declare(
          .method,
          method.name,
          name,
          number,
          path + [Number.serviceMethod, Int32(truncatingIfNeeded: index)]
        )
      }
    }
  }

  private mutating func add(
    _ message: Google_Protobuf_DescriptorProto,
    in scope: String,
    _ file: Int,
    _ path: [Int32]
  ) {
    let name = declare(.message, message.name, scope, file, path)
    // Map entries are synthetic messages.
    for (index, nested) in message.nestedType.enumerated() where !nested.options.mapEntry {
      add(nested, in: name, file, path + [Number.messageNested, Int32(truncatingIfNeeded: index)])
    }
    for (index, type) in message.enumType.enumerated() {
      add(type, in: name, file, path + [Number.messageEnum, Int32(truncatingIfNeeded: index)])
    }
    for (index, field) in message.field.enumerated() {
      declare(.field, field.name, name, file, path + [Number.messageField, Int32(truncatingIfNeeded: index)])
    }
    for (index, oneof) in message.oneofDecl.enumerated() {
      declare(.oneof, oneof.name, name, file, path + [Number.messageOneof, Int32(truncatingIfNeeded: index)])
    }
    for (index, field) in message.extension.enumerated() {
      declare(
        .extension,
        field.name,
        name,
        file,
        path + [Number.messageExtension, Int32(truncatingIfNeeded: index)]
      )
    }
  }

  private mutating func add(
    _ type: Google_Protobuf_EnumDescriptorProto,
    in scope: String,
    _ file: Int,
    _ path: [Int32]
  ) {
    declare(.enum, type.name, scope, file, path)
    // Enum values belong to the scope that contains the enum.
    for (index, value) in type.value.enumerated() {
      declare(.value, value.name, scope, file, path + [Number.enumValue, Int32(truncatingIfNeeded: index)])
    }
  }

  @discardableResult
  private mutating func declare(
    _ kind: Symbol.Kind,
    _ name: String,
    _ scope: String,
    _ file: Int,
    _ path: [Int32]
  ) -> String {
    let fullName = scope.isEmpty ? name : "\(scope).\(name)"
    // If a type and a field have the same name, prefer the type, which users usually mean.
    if symbols[fullName] == nil || kind == .message || kind == .enum || kind == .service {
      symbols[fullName] = Symbol(kind: kind, fullName: fullName, file: file, path: path)
    }
    return fullName
  }
}
