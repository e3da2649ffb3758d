/// The features of a declaration: those of the file's edition or syntax, overridden by options of the enclosing
/// declarations. The raw values are those of `google.protobuf.FeatureSet`.
package struct Features: Sendable {
  package enum Presence: Int32, Sendable {
    case explicit = 1
    case implicit
    case legacyRequired
  }

  package enum EnumType: Int32, Sendable {
    case open = 1
    case closed
  }

  package enum RepeatedEncoding: Int32, Sendable {
    case packed = 1
    case expanded
  }

  package enum UTF8Validation: Int32, Sendable {
    case verify = 2
    case none
  }

  package enum MessageEncoding: Int32, Sendable {
    case lengthPrefixed = 1
    case delimited
  }

  package var presence: Presence
  package var enumType: EnumType
  package var repeatedEncoding: RepeatedEncoding
  package var utf8Validation: UTF8Validation
  package var messageEncoding: MessageEncoding

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

  /// The earliest edition that is supported: `proto2`.
  package static let earliestEdition: Int32 = 998
  /// The latest edition that is supported; the features of ``Features`` have not changed since 2023.
  package static let latestEdition: Int32 = 1001

  /// The features of a file with this syntax and, if that is `editions`, this edition.
  package static func defaults(
    syntax: String,
    edition: Int32?
  ) throws(UnsupportedSyntax) -> Features {
    // By its bytes, because descriptors may come from a peer.
    let known = ["", "proto2", "proto3", "editions"].first { $0.utf8.elementsEqual(syntax.utf8) }
    switch (known, edition) {
    case (""?, _), ("proto2"?, _), ("editions"?, earliestEdition): return proto2
    case ("proto3"?, _), ("editions"?, 999): return proto3
    case ("editions"?, 1000), ("editions"?, latestEdition): return edition2023
    case ("editions"?, let edition):
      let name = edition.map(Features.name(ofEdition:)) ?? "an unknown edition"
      throw UnsupportedSyntax(description: "\(name) is not supported: use edition 2023 or 2024")
    default: throw UnsupportedSyntax(description: "syntax '\(syntax)' is not supported")
    }
  }

  /// The name of an edition in a `.proto` file.
  private static func name(ofEdition number: Int32) -> String {
    switch number {
    case 1000...1001: "edition \(number + 1023)"
    case 1002: "edition 2026"
    case 9999: "edition UNSTABLE"
    default: "the edition with the number \(number)"
    }
  }

  /// These features, overridden by those that options set.
  package func with(_ options: FeatureOptions) -> Features {
    var result = self
    if let presence = options.presence { result.presence = presence }
    if let enumType = options.enumType { result.enumType = enumType }
    if let encoding = options.repeatedEncoding { result.repeatedEncoding = encoding }
    if let validation = options.utf8Validation { result.utf8Validation = validation }
    if let encoding = options.messageEncoding { result.messageEncoding = encoding }
    return result
  }

  /// The features of a field, including those that `proto2` and `proto3` express in other ways.
  package func with(field: FeatureOptions, _ legacy: LegacyFeatures) -> Features {
    var result = with(field)
    if let isPacked = legacy.isPacked { result.repeatedEncoding = isPacked ? .packed : .expanded }
    if legacy.isRequired { result.presence = .legacyRequired }
    if legacy.isProto3Optional { result.presence = .explicit }
    if legacy.isGroup { result.messageEncoding = .delimited }
    return result
  }
}

/// The features that the options of a declaration set.
package struct FeatureOptions: Sendable {
  package var presence: Features.Presence?
  package var enumType: Features.EnumType?
  package var repeatedEncoding: Features.RepeatedEncoding?
  package var utf8Validation: Features.UTF8Validation?
  package var messageEncoding: Features.MessageEncoding?

  /// Options that set nothing.
  package init() {}
}

/// What a field's declaration says that is a feature since there are editions.
package struct LegacyFeatures: Sendable {
  package var isPacked: Bool?
  package var isRequired = false
  package var isProto3Optional = false
  package var isGroup = false

  /// The features of a field that sets none of them.
  package init() {}
}

/// Why a file cannot be used: its syntax or edition.
package struct UnsupportedSyntax: Error, CustomStringConvertible {
  package let description: String
}
