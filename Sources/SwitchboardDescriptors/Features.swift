/// The features of a declaration: those of the file's edition or syntax, overridden by options of the enclosing
/// declarations.
package struct Features: Sendable {
  package var presence: Google_Protobuf_FeatureSet.FieldPresence
  package var enumType: Google_Protobuf_FeatureSet.EnumType
  package var repeatedEncoding: Google_Protobuf_FeatureSet.RepeatedFieldEncoding
  package var utf8Validation: Google_Protobuf_FeatureSet.Utf8Validation
  package var messageEncoding: Google_Protobuf_FeatureSet.MessageEncoding

  private static let proto2 = Features(
    presence: .explicit,
    enumType: .closed,
    repeatedEncoding: .expanded,
    utf8Validation: .none,
    messageEncoding: .lengthPrefixed
  )
  private static let proto3 = Features(
    presence: .implicit,
    enumType: .open,
    repeatedEncoding: .packed,
    utf8Validation: .verify,
    messageEncoding: .lengthPrefixed
  )
  private static let edition2023 = Features(
    presence: .explicit,
    enumType: .open,
    repeatedEncoding: .packed,
    utf8Validation: .verify,
    messageEncoding: .lengthPrefixed
  )

  /// The latest edition that is supported; the features of ``Features`` have not changed since 2023.
  package static let latestEdition = Google_Protobuf_Edition.edition2024

  /// The features of a file's edition or syntax.
  package static func defaults(
    of file: Google_Protobuf_FileDescriptorProto
  ) throws(DescriptorError) -> Features {
    switch file.syntax {
    case "", "proto2": return proto2
    case "proto3": return proto3
    case "editions":
      switch file.edition {
      case .proto2: return proto2
      case .proto3: return proto3
      case .edition2023, .edition2024: return edition2023
      default:
        let edition = file.hasEdition ? file.edition.nameInProtos : "an unknown edition"
        throw DescriptorError(file: file.name, "\(edition) is not supported: use edition 2023 or 2024")
      }
    default:
      throw DescriptorError(file: file.name, "syntax '\(file.syntax)' is not supported")
    }
  }

  /// These features, overridden by those that `options` sets.
  package func with(_ options: Google_Protobuf_FeatureSet) -> Features {
    var result = self
    if options.hasFieldPresence { result.presence = options.fieldPresence }
    if options.hasEnumType { result.enumType = options.enumType }
    if options.hasRepeatedFieldEncoding { result.repeatedEncoding = options.repeatedFieldEncoding }
    if options.hasUtf8Validation { result.utf8Validation = options.utf8Validation }
    if options.hasMessageEncoding { result.messageEncoding = options.messageEncoding }
    return result
  }

  /// The features of a field, including those that `proto2` and `proto3` express in other ways.
  package func with(field: Google_Protobuf_FieldDescriptorProto) -> Features {
    var result = self
    if field.hasOptions {
      if field.options.hasFeatures { result = with(field.options.features) }
      if field.options.hasPacked { result.repeatedEncoding = field.options.packed ? .packed : .expanded }
    }
    if field.label == .required { result.presence = .legacyRequired }
    if field.proto3Optional { result.presence = .explicit }
    if field.type == .group { result.messageEncoding = .delimited }
    return result
  }
}

extension Google_Protobuf_Edition {
  /// The name of the edition in a `.proto` file.
  fileprivate var nameInProtos: String {
    switch self {
    case .edition2023: "edition 2023"
    case .edition2024: "edition 2024"
    case .edition2026: "edition 2026"
    case .unstable: "edition UNSTABLE"
    default: "the edition with the number \(rawValue)"
    }
  }
}
