import SwitchboardProtobuf
import TestMessages
import Testing

/// What `dump` and debuggers show of a message.
@Suite struct MirrorTests {
  private typealias Kinds = Switchboard_Testing_AllKinds3

  private static let message = Kinds.with {
    $0.oneInt32 = -5
    $0.oneString = "text"
    $0.oneColor = .blue
    $0.oneNested = .with { $0.a = 7 }
    $0.manyColor = [.red, .green]
    $0.mapStringString = ["a": "b"]
    $0.unknownFields.bytes = [0xF8, 0x3F, 0x01]
  }

  @Test func aGeneratedMessageShowsItsFields() {
    let mirror = Mirror(reflecting: Self.message)
    let fields = Dictionary(uniqueKeysWithValues: mirror.children.map { ($0.label ?? "", $0.value) })
    #expect(mirror.displayStyle == .struct && mirror.children.first?.label == "one_int32")
    #expect(fields.count == 7)
    #expect(fields["one_int32"] as? Int32 == -5)
    #expect(fields["one_string"] as? String == "text")
    #expect(fields["one_color"] as? String == "BLUE")
    let nested = Mirror(reflecting: fields["one_nested"] ?? 0)
    #expect("\(fields["one_nested"] ?? 0)" == "switchboard.testing.AllKinds3.Nested")
    #expect(nested.children.map(\.label) == ["a"] && nested.children.first?.value as? Int32 == 7)
    #expect(fields["many_color"] as? [String] == ["RED", "GREEN"])
    #expect(fields["map_string_string"] as? [String: String] == ["a": "b"])
    #expect((fields["unknownFields"] as? UnknownFields)?.bytes == [0xF8, 0x3F, 0x01])
    #expect(Mirror(reflecting: Kinds()).children.isEmpty)
  }

  @Test func aDynamicMessageShowsTheSame() throws {
    let type = try TestPool.type(of: Kinds.self)
    let message = try DynamicMessage(type, serializedBytes: Self.message.serializedBytes())
    var (shown, expected) = ("", "")
    dump(message, to: &shown, name: "m")
    dump(Self.message, to: &expected, name: "m")
    #expect(shown == expected)
    #expect(shown.contains("one_string: \"text\""))
  }

  /// Numbers that are not the positions of the cases, that are not cases at all, and enums side by side.
  @Test func enumsAreShownByTheirNumbers() {
    func shown(_ message: some Message) -> [String] {
      Mirror(reflecting: message).children.map { "\($0.label ?? ""): \($0.value)" }
    }
    #expect(shown(Switchboard_Testing_AllKinds2.with { $0.oneColor = .negative }) == ["one_color: NEGATIVE"])
    #expect(shown(Switchboard_Testing_Required2.with { $0.late = .first }) == ["late: LATE2_FIRST"])
    #expect(shown(Switchboard_Testing_Required2.with { $0.late = .second }) == ["late: LATE2_SECOND"])
    let both = Kinds.with {
      $0.oneColor = .UNRECOGNIZED(99)
      $0.oneAliased = .second
    }
    #expect(shown(both) == ["one_color: 99", "one_aliased: SECOND"])
    #expect(shown(Kinds.with { $0.choiceColor = .negative }) == ["choice_color: NEGATIVE"])
  }

  @Test func extensionsAreShownByTheirNames() {
    let message = Switchboard_Testing_AllKinds2.with { $0.Switchboard_Testing_extensionInt32 = 3 }
    let children = Mirror(reflecting: message).children.map { "\($0.label ?? ""): \($0.value)" }
    #expect(children == ["[switchboard.testing.extension_int32]: 3"])
  }
}
