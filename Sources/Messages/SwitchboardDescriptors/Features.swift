import SwitchboardSchema

extension Features {
  /// The features of a file's edition or syntax.
  static func defaults(of file: Google_Protobuf_FileDescriptorProto) throws(DescriptorError) -> Features {
    do throws(UnsupportedSyntax) {
      return try defaults(syntax: file.syntax, edition: file.hasEdition ? Int32(file.edition.rawValue) : nil)
    } catch {
      throw DescriptorError(file: file.name, error.description)
    }
  }

  /// These features, overridden by those that `options` sets.
  func with(_ options: Google_Protobuf_FeatureSet) -> Features { with(FeatureOptions(options)) }

  /// The features of a field, including those that `proto2` and `proto3` express in other ways.
  func with(field: Google_Protobuf_FieldDescriptorProto) -> Features {
    var legacy = LegacyFeatures()
    legacy.isRequired = field.label == .required
    legacy.isProto3Optional = field.proto3Optional
    legacy.isGroup = field.type == .group
    guard field.hasOptions else { return with(field: FeatureOptions(), legacy) }
    if field.options.hasPacked { legacy.isPacked = field.options.packed }
    return with(field: FeatureOptions(field.options.features), legacy)
  }
}

extension FeatureOptions {
  /// The features that `options` sets. Unknown values are ignored.
  fileprivate init(_ options: Google_Protobuf_FeatureSet) {
    self.init()
    presence = Features.Presence(rawValue: Int32(options.fieldPresence.rawValue))
    enumType = Features.EnumType(rawValue: Int32(options.enumType.rawValue))
    repeatedEncoding = Features.RepeatedEncoding(rawValue: Int32(options.repeatedFieldEncoding.rawValue))
    utf8Validation = Features.UTF8Validation(rawValue: Int32(options.utf8Validation.rawValue))
    messageEncoding = Features.MessageEncoding(rawValue: Int32(options.messageEncoding.rawValue))
  }
}
