import SwitchboardSchema

/// What a `google.protobuf.FileDescriptorProto` says, as far as a generator uses it. The parts are in
/// `TypeDescriptors.swift` and `ServiceDescriptors.swift`.
package struct FileDescriptor: Sendable {
  package private(set) var name = ""
  package private(set) var dependency: [String] = []
  private(set) var package = ""
  private(set) var messageType: [MessageDescriptor] = []
  private(set) var enumType: [EnumDescriptor] = []
  private(set) var service: [ServiceDescriptor] = []
  private(set) var `extension`: [FieldDescriptor] = []
  private(set) var options = FileOptions()
  private(set) var comments = SourceComments()
  private(set) var syntax = ""
  private(set) var edition: Int32?
  /// The encoded descriptor, without the positions in the source.
  private(set) var encoded: [ArraySlice<UInt8>] = []

  /// Reads an encoded descriptor.
  init(_ bytes: ArraySlice<UInt8>, depth: Int) throws(GeneratorError) {
    var fields = try EncodedFields(bytes, depth: depth)
    var start = bytes.startIndex
    while let field = try fields.next() {
      try merge(field)
      if field.number == 9 {
        encoded.append(bytes[start..<field.start])
        start = fields.position
      }
    }
    encoded.append(bytes[start...])
  }

  private mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 1: name = field.text ?? name
    case 2: package = field.text ?? package
    case 3: if let name = field.text { dependency.append(name) }
    case 4: try field.append(to: &messageType)
    case 5: try field.append(to: &enumType)
    case 6: try field.append(to: &service)
    case 7: try field.append(to: &`extension`)
    case 8: try field.merge(into: &options)
    case 9: try field.merge(into: &comments)
    case 12: syntax = field.text ?? syntax
    case 14: edition = field.int32 ?? edition
    default: break
    }
  }
}

/// The options of a file.
struct FileOptions: Sendable, EncodedMessage {
  private(set) var swiftPrefix: String?
  private(set) var features = FeatureOptions()

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    switch field.number {
    case 39: swiftPrefix = field.text ?? swiftPrefix
    case 50: try field.merge(into: &features)
    default: break
    }
  }
}

/// The positions in the source that have a comment, and those of rules of HTTP, in which mistakes are found. There are
/// seven times as many others.
struct SourceComments: Sendable, EncodedMessage {
  struct Location: Sendable, EncodedMessage {
    private(set) var path: [Int32] = []
    private(set) var span: [Int32] = []
    private(set) var leadingComments: String?
    private(set) var trailingComments: String?

    mutating func merge(_ field: EncodedField) throws(GeneratorError) {
      switch field.number {
      case 1: path += try field.numbers
      case 2: span += try field.numbers
      case 3: leadingComments = field.text ?? leadingComments
      case 4: trailingComments = field.text ?? trailingComments
      default: break
      }
    }

    /// Whether this is, or is in, an option `google.api.http` of a method.
    var isOfRule: Bool {
      path.count >= 6 && path[0] == 6 && path[2] == 2 && path[4] == 4
        && path[5] == CallOptions.httpRuleNumber
    }
  }

  /// Where the rule of a method begins, whose declaration has this path; counted from 1.
  func placeOfRule(ofMethodAt path: [Int32]) -> (line: Int32, column: Int32)? {
    let place = locations.first { $0.isOfRule && $0.path.starts(with: path) && $0.span.count > 1 }
    return place.map { ($0.span[0] + 1, $0.span[1] + 1) }
  }

  private(set) var locations: [Location] = []

  mutating func merge(_ field: EncodedField) throws(GeneratorError) {
    guard field.number == 1 else { return }
    try field.append(to: &locations)
    if let last = locations.last, last.leadingComments == nil, last.trailingComments == nil, !last.isOfRule {
      locations.removeLast()
    }
  }
}

extension FeatureOptions: EncodedMessage {
  mutating func merge(_ field: EncodedField) {
    guard let value = field.int32 else { return }
    switch field.number {
    case 1: presence = Features.Presence(rawValue: value) ?? presence
    case 2: enumType = Features.EnumType(rawValue: value) ?? enumType
    case 3: repeatedEncoding = Features.RepeatedEncoding(rawValue: value) ?? repeatedEncoding
    case 4: utf8Validation = Features.UTF8Validation(rawValue: value) ?? utf8Validation
    case 5: messageEncoding = Features.MessageEncoding(rawValue: value) ?? messageEncoding
    default: break
    }
  }
}
