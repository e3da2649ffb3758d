import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct TraceParentFieldTests {
  private static let first = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  private static let second = "00-1bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  /// Adds fields of this name, and returns those that are among the others.
  private func add(_ values: String..., to field: inout TraceParentField) -> [String] {
    let fields = FieldCollector()
    fields.begin()
    Array("traceparent".utf8).withUnsafeBufferPointer { name in
      for value in values { Array(value.utf8).withUnsafeBufferPointer { field.add($0, name, fields) } }
    }
    return fields.take()["traceparent"]
  }

  private func identity(_ text: String) -> SpanIdentity? {
    Array(text.utf8).withUnsafeBytes { SpanIdentity(text: $0) }
  }

  @Test func aValidOneIsKeptApart() {
    var field = TraceParentField(isWanted: true)
    #expect(field.isRepeatable && add(Self.first, to: &field) == [])
    #expect(field.identity?.text == identity(Self.first)?.text && !field.hasOthers && !field.isRepeatable)
    #expect(field.rejoin() != nil && field.identity == nil && field.hasOthers)
  }

  @Test func severalAreAmongTheFieldsInTheirOrder() {
    var field = TraceParentField(isWanted: true)
    #expect(add(Self.first, Self.second, Self.first, to: &field) == [Self.first, Self.second, Self.first])
    #expect(field.identity == nil && field.hasOthers)
  }

  @Test func anInvalidOneIsAmongTheFields() {
    var field = TraceParentField(isWanted: true)
    #expect(add("none", Self.first, to: &field) == ["none", Self.first])
    #expect(field.identity == nil && field.hasOthers && !field.isRepeatable)
  }

  /// The session has put it where it was.
  @Test func oneFromTheEndOfTheBlockStaysApart() throws {
    var field = TraceParentField(isWanted: true)
    field.addLate(try #require(identity(Self.first)))
    #expect(field.isRepeatable)
    // Other heads have others then.
    var rejoined = field
    #expect(rejoined.rejoin() != nil && !rejoined.isRepeatable)
    #expect(add(Self.second, to: &field) == [Self.second])
    #expect(field.identity?.text == identity(Self.first)?.text && field.hasOthers && !field.isRepeatable)
  }
}
