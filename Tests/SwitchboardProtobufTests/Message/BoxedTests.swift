import Testing

@testable import SwitchboardProtobuf

@Suite struct BoxedTests {
  @Test func sharesUntilOneHolderChanges() {
    var first = Boxed([1, 2])
    let second = first
    #expect(first.box === second.box)
    first.value.append(3)
    #expect(first.value == [1, 2, 3])
    #expect(second.value == [1, 2])
  }

  @Test func changesInPlaceWhenItIsTheOnlyHolder() {
    var boxed = Boxed(1)
    let box = ObjectIdentifier(boxed.box)
    boxed.value = 2
    #expect(ObjectIdentifier(boxed.box) == box)
  }

  @Test func comparesByValue() {
    #expect(Boxed(1) == Boxed(1))
    #expect(Boxed(1) != Boxed(2))
    #expect(Boxed(1).hashValue == Boxed(1).hashValue)
  }

  @Test func lendsItsValue() {
    var seen = 0
    Boxed(7).lend { seen = $0 }
    #expect(seen == 7)
  }
}
