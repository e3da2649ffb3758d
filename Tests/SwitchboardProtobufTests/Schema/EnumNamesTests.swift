import Testing

@testable import SwitchboardProtobuf

@Suite struct EnumNamesTests {
  private let names = EnumNames("0:UNKNOWN 1:STARTED 1:RUNNING -1:FAILED")

  @Test func writesTheFirstNameAndReadsAll() {
    #expect(names.name(of: 1) == "STARTED")
    #expect(names.number(of: "RUNNING") == 1)
    #expect(names.number(of: "STARTED") == 1)
    #expect(names.name(of: -1) == "FAILED")
  }

  @Test func knowsNothingElse() {
    #expect(names.name(of: 2) == nil)
    #expect(names.number(of: "running") == nil)
  }

  /// The Kelvin sign is equal to the letter K, where strings are compared.
  @Test func knowsNoEquivalentName() {
    let kinds = EnumNames("1:KIND")
    #expect(kinds.number(of: "KIND") == 1)
    #expect(kinds.number(of: "\u{212A}IND") == nil)
  }
}
