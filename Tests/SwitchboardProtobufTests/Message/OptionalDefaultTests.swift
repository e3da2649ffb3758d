import SwitchboardProtobuf
import Testing

@Suite struct OptionalDefaultTests {
  @Test func readsTheFallbackWithoutSettingIt() {
    let value: Int? = nil
    #expect(value[or: 5] == 5)
    #expect(value == nil)
  }

  @Test func setsTheValueWhenItIsChanged() {
    var value: [Int]?
    value[or: [1]].append(2)
    #expect(value == [1, 2])
  }

  @Test func keepsTheValueWhenTheChangeThrows() {
    struct Stop: Error {}
    func change(_ value: inout [Int]) throws {
      value.append(2)
      throw Stop()
    }
    var value: [Int]? = [1]
    #expect(throws: Stop.self) { try change(&value[or: []]) }
    #expect(value == [1, 2])
  }
}
