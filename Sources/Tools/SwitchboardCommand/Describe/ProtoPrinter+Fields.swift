import SwitchboardDescriptors
import SwitchboardProtobuf

extension ProtoPrinter {
  /// Prints the body of a message.
  mutating func body(of message: Google_Protobuf_DescriptorProto, _ fullName: String, _ path: [Int32]) {
    options(message.hasOptions ? message.options : nil, "google.protobuf.MessageOptions")
    // Groups and map entries are printed with the fields to which they belong.
    let hidden = Self.groups(message.field + message.extension)
    for (index, nested) in message.nestedType.enumerated()
    where !nested.options.mapEntry && !hidden.contains(".\(fullName).\(nested.name)") {
      self.message(nested, in: fullName, path + [Number.messageNested, Int32(index)])
    }
    for (index, type) in message.enumType.enumerated() {
      enumeration(type, path + [Number.messageEnum, Int32(index)])
    }
    let container = Container(message: message, fullName: fullName, path: path)
    fields(container)
    for range in message.extensionRange {
      line("\(keyword("extensions")) \(Self.range(range.start, range.end &- 1, limit: 536_870_911));")
    }
    reserved(
      message.reservedRange.map { Self.range($0.start, $0.end &- 1, limit: 536_870_911) },
      message.reservedName
    )
    if !message.extension.isEmpty {
      extensions(message.extension, in: fullName, path + [Number.messageExtension])
    }
  }

  /// The message that contains fields.
  struct Container {
    let message: Google_Protobuf_DescriptorProto
    let fullName: String
    let path: [Int32]
    /// The nested messages, by the type names that fields have.
    private let nested: [String: Google_Protobuf_DescriptorProto]
    /// The field with which the body of a group is printed. A second field of the same group, which no source can have,
    /// must not print it again: in nested groups, that would double the output at each level.
    private let owners: [String: Int32]

    init(message: Google_Protobuf_DescriptorProto, fullName: String, path: [Int32]) {
      self.message = message
      self.fullName = fullName
      self.path = path
      nested = Dictionary(message.nestedType.map { (".\(fullName).\($0.name)", $0) }) { first, _ in first }
      owners = Dictionary(message.field.lazy.filter { $0.type == .group }.map { ($0.typeName, $0.number) }) {
        first,
        _ in
        first
      }
    }

    /// The entry of a map, if the field is one.
    func mapEntry(of field: Google_Protobuf_FieldDescriptorProto) -> Google_Protobuf_DescriptorProto? {
      guard field.label == .repeated, let entry = nested[field.typeName], entry.options.mapEntry,
        entry.field.count == 2
      else { return nil }
      return entry
    }

    /// The message of a group, if its body is printed with this field.
    func group(of field: Google_Protobuf_FieldDescriptorProto) -> Google_Protobuf_DescriptorProto? {
      owners[field.typeName] == field.number ? nested[field.typeName] : nil
    }
  }

  /// Prints the fields. The members of a oneof are together, at the place of the first.
  private mutating func fields(_ container: Container) {
    var done: Set<Int32> = []
    let fields = container.message.field
    var members: [Int32: [Int]] = [:]
    for index in fields.indices where fields[index].isInOneof {
      members[fields[index].oneofIndex, default: []].append(index)
    }
    for index in fields.indices {
      guard fields[index].isInOneof else {
        field(fields[index], container, container.path + [Number.messageField, Int32(index)])
        continue
      }
      let oneof = fields[index].oneofIndex
      guard done.insert(oneof).inserted, container.message.oneofDecl.indices.contains(Int(oneof)) else {
        continue
      }
      let declaration = container.message.oneofDecl[Int(oneof)]
      commented(container.path + [Number.messageOneof, oneof]) { printer in
        printer.block("\(printer.keyword("oneof")) \(declaration.name)") { printer in
          printer.options(declaration.hasOptions ? declaration.options : nil, "google.protobuf.OneofOptions")
          for index in members[oneof] ?? [] {
            printer.field(fields[index], container, container.path + [Number.messageField, Int32(index)])
          }
        }
      }
    }
  }

  /// Prints a field of `container`, or an extension if that is nil. `extensionGroup` is the message of an extension
  /// that is a group.
  mutating func field(
    _ field: Google_Protobuf_FieldDescriptorProto,
    _ container: Container?,
    in scope: String? = nil,
    _ path: [Int32],
    extensionGroup: Google_Protobuf_DescriptorProto? = nil
  ) {
    let scope = scope ?? container?.fullName ?? file.package
    commented(path) { printer in
      let number = printer.paint(.number, "\(field.number)")
      let options = Self.inBrackets(printer.fieldOptions(field))
      if let entry = container?.mapEntry(of: field) {
        let (key, value) = (printer.typeName(entry.field[0], scope), printer.typeName(entry.field[1], scope))
        return printer.line(
          "\(printer.keyword("map"))<\(key), \(value)> \(field.name) = \(number)\(options);"
        )
      }
      let label: ShownText = printer.label(of: field).map { printer.keyword($0) + " " } ?? ""
      let group = container.map { $0.group(of: field) } ?? extensionGroup
      if field.type == .group, let group {
        return printer.block("\(label)\(printer.keyword("group")) \(printer.name(group.name)) = \(number)") {
          printer in
          let name = field.typeName.hasPrefix(".") ? String(field.typeName.dropFirst()) : field.typeName
          printer.body(of: group, name, [])
        }
      }
      printer.line("\(label)\(printer.typeName(field, scope)) \(field.name) = \(number)\(options);")
    }
  }

  /// Prints extensions, grouped by the message that they extend.
  mutating func extensions(
    _ fields: [Google_Protobuf_FieldDescriptorProto],
    in scope: String,
    _ path: [Int32]
  ) {
    var order: [String] = []
    let byExtendee = Dictionary(grouping: fields.indices) { fields[$0].extendee }
    for field in fields where order.last != field.extendee { order.append(field.extendee) }
    var done: Set<String> = []
    // Each group is printed once, as in a message.
    var groups: Set<String> = []
    for extendee in order where done.insert(extendee).inserted {
      block("\(keyword("extend")) \(type(relative(extendee, in: scope)))") { printer in
        for index in byExtendee[extendee] ?? [] {
          let isGroup = fields[index].type == .group && groups.insert(fields[index].typeName).inserted
          let group = isGroup ? printer.group(fields[index], in: scope) : nil
          printer.field(fields[index], nil, in: scope, path + [Int32(index)], extensionGroup: group)
        }
      }
    }
  }

  /// The messages that are printed with a field.
  static func groups(_ fields: [Google_Protobuf_FieldDescriptorProto]) -> Set<String> {
    Set(fields.lazy.filter { $0.type == .group }.map(\.typeName))
  }

  /// The message of an extension that is a group. It is declared in the same scope as the extension.
  private func group(
    _ field: Google_Protobuf_FieldDescriptorProto,
    in scope: String
  ) -> Google_Protobuf_DescriptorProto? {
    guard let symbol = schema.symbol(named: field.typeName),
      schema.files[symbol.file].name == file.name,
      symbol.fullName == (scope.isEmpty ? "" : scope + ".")
        + (symbol.fullName.split(separator: ".").last ?? ""),
      case .message(let message, _)? = Declaration(symbol, in: file)
    else { return nil }
    return message
  }

  mutating func reserved(_ ranges: [String], _ names: [String]) {
    if !ranges.isEmpty { line("\(keyword("reserved")) \(ranges.joined(separator: ", "));") }
    guard !names.isEmpty else { return }
    // In editions, reserved names have no quotes.
    let words = names.map { file.edition == .unknown ? quoted($0) : ShownText($0) }
    line("\(keyword("reserved")) \(words.joined(separator: ", "));")
  }

  private func label(of field: Google_Protobuf_FieldDescriptorProto) -> String? {
    if field.label == .repeated { return "repeated" }
    if field.isInOneof { return nil }
    if file.edition != .unknown { return nil }
    if field.label == .required { return "required" }
    return field.proto3Optional || file.syntax != "proto3" ? "optional" : nil
  }

  func typeName(_ field: Google_Protobuf_FieldDescriptorProto, _ scope: String) -> ShownText {
    field.hasTypeName ? type(relative(field.typeName, in: scope)) : type("\(field.type)".lowercased())
  }
}

extension Google_Protobuf_FieldDescriptorProto {
  /// Whether the field is in a oneof that is not synthetic.
  var isInOneof: Bool { hasOneofIndex && !proto3Optional }
}
