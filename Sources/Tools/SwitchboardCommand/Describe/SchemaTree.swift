import SwitchboardDynamic
import SwitchboardProtobuf

/// Draws a message with the messages in it, or a service with those of its methods.
///
/// A message that contains itself or was already drawn is only named, so a tree is never larger than its schema.
struct SchemaTree {
  private let schema: Schema
  private let paint: Painter
  private(set) var lines: [ShownText] = []
  private var drawn: Set<String> = []

  init(_ schema: Schema, _ paint: Painter) {
    self.schema = schema
    self.paint = paint
  }

  mutating func draw(_ service: SchemaService) {
    lines.append(paint(.name, service.fullName))
    let methods = service.methods
    for (index, method) in methods.enumerated() {
      let isLast = index == methods.count - 1
      lines.append((isLast ? "└── " : "├── ") + paint(.name, method.name))
      let indent: ShownText = isLast ? "    " : "│   "
      draw(method.requestType, method.descriptor.clientStreaming, "takes", indent, isLast: false)
      draw(method.responseType, method.descriptor.serverStreaming, "returns", indent, isLast: true)
    }
  }

  private mutating func draw(
    _ type: String,
    _ streams: Bool,
    _ verb: String,
    _ indent: ShownText,
    isLast: Bool
  ) {
    let stream: ShownText = streams ? "stream " : ""
    let branch = indent + (isLast ? "└── " : "├── ")
    guard let table = schema.pool.messageType(named: type) else {
      return lines.append("\(branch)\(verb) \(type)")
    }
    draw(table, branch + "\(verb) \(stream)", indent + (isLast ? "    " : "│   "), depth: 0)
  }

  mutating func draw(_ message: MessageTable) { draw(message, "", "", depth: 0) }

  /// The depth limit: more than anyone reads, and a bound on chains of types that a server may send.
  private static let mostLevels = 40

  private mutating func draw(_ message: MessageTable, _ head: ShownText, _ indent: ShownText, depth: Int) {
    let name = paint(.type, message.fullName)
    let isNew = drawn.insert(message.fullName).inserted
    lines.append(head + name + (isNew || message.fields.isEmpty ? "" : paint(.comment, " (above)")))
    guard isNew, depth < Self.mostLevels else { return }
    // The fields of well-known types are implementation details.
    if message.fullName.hasPrefix("google.protobuf.") { return }
    let fields = message.fields
    for (index, field) in fields.enumerated() {
      let isLast = index == fields.count - 1
      let branch = indent + (isLast ? "└── " : "├── ")
      let label = self.label(of: field) + ShownText(field.name) + paint(.number, " = \(field.number)")
      guard let inner = message.message(of: field) else {
        let type = message.enumeration(of: field)?.fullName ?? "\(field.type)"
        lines.append("\(branch)\(label): \(paint(.type, type))")
        continue
      }
      draw(inner, "\(branch)\(label): ", indent + (isLast ? "    " : "│   "), depth: depth + 1)
    }
  }

  private func label(of field: TableField) -> ShownText {
    if let key = field.mapKey { return "map<\(key)> " }
    if field.isRepeated { return "repeated " }
    return field.isRequired ? "required " : ""
  }
}
