import SwitchboardProtobuf
import TestMessages
import Testing

/// The effects of a field mask on messages.
@Suite struct FieldMaskMessageTests {
  private typealias Mask = Google_Protobuf_FieldMask
  private typealias Kinds3 = Switchboard_Testing_AllKinds3
  private typealias Kinds2 = Switchboard_Testing_AllKinds2

  private static let mine = Kinds3.with {
    $0.oneInt32 = 1
    $0.oneString = "mine"
    $0.oneBytes = [1]
    $0.manyInt32 = [1]
    $0.manyOuter = [.with { $0.c = 1 }]
    $0.mapStringString = ["a": "mine", "b": "mine"]
    $0.oneOuter = .with {
      $0.c = 1
      $0.text = "mine"
    }
    $0.choiceString = "mine"
    $0.optionalInt32 = 1
    $0.unknownFields.bytes = [0xF8, 0x3F, 0x01]
  }

  private static let theirs = Kinds3.with {
    $0.oneInt32 = 2
    $0.oneString = "theirs"
    $0.oneBytes = [2]
    $0.manyInt32 = [2, 3]
    $0.manyOuter = [.with { $0.c = 2 }]
    $0.mapStringString = ["b": "theirs", "c": "theirs"]
    $0.oneOuter = .with { $0.c = 2 }
    $0.choiceBytes = [2]
  }

  private func merged(_ paths: String..., replacing: Bool = false) throws -> Kinds3 {
    var message = Self.mine
    var option = Mask.MergeOptions()
    option.replaceRepeatedFields = replacing
    try message.merge(from: Self.theirs, fieldMask: Mask(protoPaths: paths), options: option)
    return message
  }

  /// The expected result of merging, as changes to the message before.
  private func mine(_ change: (inout Kinds3) -> Void) -> Kinds3 {
    var message = Self.mine
    change(&message)
    return message
  }

  @Test func copiesScalars() throws {
    #expect(try merged("one_int32", "one_bytes") == mine { ($0.oneInt32, $0.oneBytes) = (2, [2]) })
    #expect(try merged("optional_int32") == mine { $0.clearOptionalInt32() })
    #expect(try merged() == Self.mine)
  }

  @Test func addsToRepeatedFieldsAndMaps() throws {
    let message = try merged("many_int32", "many_outer", "map_string_string")
    #expect(
      message
        == mine {
          $0.manyInt32 = [1, 2, 3]
          $0.manyOuter = [.with { $0.c = 1 }, .with { $0.c = 2 }]
          $0.mapStringString = ["a": "mine", "b": "theirs", "c": "theirs"]
        }
    )
  }

  @Test func replacesRepeatedFieldsAndMapsWhereAsked() throws {
    let message = try merged("many_int32", "many_string", "map_string_string", replacing: true)
    #expect(
      message
        == mine {
          $0.manyInt32 = [2, 3]
          $0.mapStringString = ["b": "theirs", "c": "theirs"]
        }
    )
  }

  @Test func replacesMessagesAndMergesNestedFields() throws {
    #expect(try merged("one_outer") == mine { $0.oneOuter = .with { $0.c = 2 } })
    #expect(try merged("one_outer.c") == mine { $0.oneOuter.c = 2 })
    #expect(try merged("one_outer.text") == mine { $0.oneOuter.text = "" })
    // Neither message has it, so there is nothing to merge.
    #expect(try !merged("one_nested.outer.one_int32").hasOneNested)
    var empty = Kinds3()
    try empty.merge(from: Self.theirs, fieldMask: Mask(protoPaths: "one_outer.c"))
    #expect(empty == .with { $0.oneOuter.c = 2 })
  }

  @Test func changesTheMemberOfAOneof() throws {
    #expect(try merged("choice_bytes") == mine { $0.choiceBytes = [2] })
    // It is set in this message and not in the source.
    #expect(try merged("choice_string") == mine { $0.choice = nil })
  }

  @Test func rejectsPathsThatNameNoField() {
    var message = Self.mine
    #expect(throws: FieldMaskError.invalidPath("one_int32.a", message: AllKinds3.protoMessageName)) {
      try message.merge(from: Self.theirs, fieldMask: Mask(protoPaths: "one_string", "one_int32.a"))
    }
    #expect(message == Self.mine)
  }

  @Test func trims() {
    var message = Self.mine
    let trimmed = message.trim(keeping: Mask(protoPaths: "one_outer.c", "many_int32", "choice_string"))
    #expect(trimmed)
    #expect(
      message
        == .with {
          $0.oneOuter.c = 1
          $0.manyInt32 = [1]
          $0.choiceString = "mine"
          $0.unknownFields = Self.mine.unknownFields
        }
    )
    let again = message.trim(keeping: Mask(protoPaths: "one_outer", "many_int32", "choice_string"))
    #expect(!again)
  }

  @Test(arguments: [Mask(), Mask(protoPaths: "one_int32", "nothing")])
  func doesNotChangeAMessageForAnInvalidMask(mask: Google_Protobuf_FieldMask) {
    var message = Self.mine
    let changed = message.trim(keeping: mask)
    #expect(!changed)
    #expect(message == Self.mine)
  }

  @Test func keepsExtensionsAndGroups() throws {
    let field = Switchboard_Testing_Extensions_extension_int32
    var message = Kinds2.with {
      $0.data.groupInt32 = 1
      $0.data.groupUint32 = 1
      $0.oneInt32 = 1
    }
    message[field] = 7
    let source = Kinds2.with { $0.data.groupInt32 = 2 }
    try message.merge(from: source, fieldMask: Mask(protoPaths: "data.group_int32"))
    #expect(message.data == .with { ($0.groupInt32, $0.groupUint32) = (2, 1) })
    #expect(message[field] == 7)
    message.trim(keeping: Mask(protoPaths: "data.group_int32"))
    #expect(!message.hasOneInt32 && !message.data.hasGroupUint32)
    #expect(message[field] == 7)
  }
}
