import ReferenceSupport
import SwitchboardProtobuf
import TestMessages

// The messages of these tests, as their errors call them.
typealias Kinds = Text_Kinds
typealias Legacy = Text_Legacy
typealias SetItem = Text_SetItem

/// The schema of ``Kinds`` and ``Legacy``.
enum TextSchema {
  static let extensions = Text_TextLegacy_Extensions

  /// libprotobuf, with both files linked.
  static func reference() throws -> Reference {
    let directory = TestProtos.directory
    return try Reference(
      protos: ["\(directory)/testing/text_kinds.proto", "\(directory)/testing/text_legacy.proto"],
      includeDirectories: [directory]
    )
  }
}
