import SwitchboardDescriptors

/// The messages and enums that files declare, by their full names, with their places in the files.
struct DeclaredTypes {
  struct Message {
    let descriptor: Google_Protobuf_DescriptorProto
    let file: Int
    let path: [Int32]
  }

  struct EnumType {
    let descriptor: Google_Protobuf_EnumDescriptorProto
    let file: Int
    let path: [Int32]
  }

  private(set) var messages: [String: Message] = [:]
  private(set) var enums: [String: EnumType] = [:]

  /// The deepest nesting of message declarations.
  private static let maximumDepth = 64

  init(_ files: [Google_Protobuf_FileDescriptorProto]) {
    for (index, file) in files.enumerated() {
      for (number, message) in file.messageType.enumerated() {
        add(message, in: file.package, index, [4, Int32(number)])
      }
      for (number, type) in file.enumType.enumerated() {
        add(type, in: file.package, index, [5, Int32(number)])
      }
    }
  }

  private mutating func add(
    _ message: Google_Protobuf_DescriptorProto,
    in scope: String,
    _ file: Int,
    _ path: [Int32]
  ) {
    guard path.count < 2 * DeclaredTypes.maximumDepth else { return }
    let name = scope.isEmpty ? message.name : "\(scope).\(message.name)"
    messages[name] = Message(descriptor: message, file: file, path: path)
    for (number, nested) in message.nestedType.enumerated() {
      add(nested, in: name, file, path + [3, Int32(number)])
    }
    for (number, type) in message.enumType.enumerated() {
      add(type, in: name, file, path + [4, Int32(number)])
    }
  }

  private mutating func add(
    _ type: Google_Protobuf_EnumDescriptorProto,
    in scope: String,
    _ file: Int,
    _ path: [Int32]
  ) {
    enums[scope.isEmpty ? type.name : "\(scope).\(type.name)"] = EnumType(
      descriptor: type,
      file: file,
      path: path
    )
  }

  /// A full name without the leading dot that it has in descriptors.
  static func name(_ type: String) -> String { type.hasPrefix(".") ? String(type.dropFirst()) : type }

  func message(of field: Google_Protobuf_FieldDescriptorProto) -> Message? {
    messages[DeclaredTypes.name(field.typeName)]
  }
}

/// The comments of a file, by the paths of declarations.
struct FileComments {
  /// A comment, and the examples in it: lines such as `Example: "shelves/1"`.
  struct Comment {
    var text: String
    var examples: [String]
  }

  private var comments: [[Int32]: String] = [:]

  init(_ file: Google_Protobuf_FileDescriptorProto) {
    for location in file.sourceCodeInfo.location {
      let text = location.leadingComments.isEmpty ? location.trailingComments : location.leadingComments
      if !text.isEmpty { comments[location.path] = text }
    }
  }

  /// The comment of a declaration.
  func text(_ path: [Int32]) -> Comment? {
    guard let text = comments[path] else { return nil }
    var comment = Comment(text: "", examples: [])
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.hasPrefix(" ") ? line.dropFirst() : line
      if line.hasPrefix("Example: ") {
        comment.examples.append(String(line.dropFirst("Example: ".count)))
      } else {
        lines.append(String(line))
      }
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    while lines.first?.isEmpty == true { lines.removeFirst() }
    comment.text = lines.joined(separator: "\n")
    return comment
  }
}
