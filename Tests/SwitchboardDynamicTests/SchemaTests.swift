import KindsService
import Switchboard
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardServices
import Testing

/// Declarations that are found by their names.
@Suite struct SchemaTests {
  private struct Kinds: CallHandlerProvider {
    let serviceName = Switchboard_Testing_KindsMetadata.service.name
    let methodHandlers: [MethodHandler] = []
    let reflectionData = Switchboard_Testing_KindsMetadata.reflectionData
  }

  private let schema: Schema

  init() throws { schema = try Schema(try ReflectionService.files(describing: [Kinds()])) }

  @Test func messagesAndEnumsAreFoundWhereverTheyAre() {
    #expect(
      schema.message(named: "switchboard.testing.Word")?.descriptor.field.map(\.name) == [
        "text", "count", "next",
      ]
    )
    #expect(
      schema.message(named: "switchboard.testing.AllKinds3.Nested")?.descriptor.field.first?.name == "a"
    )
    #expect(schema.enumeration(named: "switchboard.testing.OuterColor3") != nil)
    #expect(schema.enumeration(named: "switchboard.testing.AllKinds3.Color")?.value.first?.name == "RED")
    #expect(schema.message(named: "switchboard.testing.AllKinds3.Color") == nil)
    #expect(schema.enumeration(named: "switchboard.testing.Word") == nil)
    #expect(schema.message(named: "nothing") == nil)
  }

  @Test(arguments: [
    ("shop.Shop/Buy", "shop.Shop", "Buy"), ("/shop.Shop/Buy", "shop.Shop", "Buy"),
    ("shop.Shop.Buy", "shop.Shop", "Buy"),
    ("Shop/Buy", "Shop", "Buy"),
  ])
  func aMethodIsNamedInTwoWays(name: String, service: String, method: String) {
    let parts = SchemaMethod.parts(of: name)
    #expect(parts?.service == service)
    #expect(parts?.method == method)
  }

  @Test(arguments: ["", "/", "Buy", "shop.Shop/", "."]) func whatNamesNoMethod(name: String) {
    #expect(SchemaMethod.parts(of: name) == nil)
  }

  @Test func methodsAreFoundByTheirPaths() throws {
    let method = try #require(schema.method(named: "switchboard.testing.Kinds/Talk"))
    #expect(method.type == .bidirectionalStreaming)
    #expect(try schema.dynamicMethod(method).requests.kind.table?.fullName == "switchboard.testing.Word")
  }
}
