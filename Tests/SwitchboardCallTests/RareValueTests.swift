import SwitchboardCall
import Testing

/// A value that few owners need.
@Suite struct RareValueTests {
  @Test func hasNoValueUntilItIsChanged() {
    let value = RareValue<Int>()
    #expect(value.value == nil)
    value.change(from: 5) { $0 += 1 }
    #expect(value.value == 6)
    value.change(from: 100) { $0 += 1 }
    #expect(value.value == 7)
  }

  @Test func countsTheChangesOfAllThreads() async {
    let shared = SharedCount()
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 { shared.count.change(from: 10) { $0 += 1 } }
        }
      }
    }
    #expect(shared.count.value == 8010)
  }

  @Test func releasesTheValueWithItsOwner() {
    weak var object: SharedCount?
    do {
      let value = RareValue<SharedCount>()
      let count = SharedCount()
      object = count
      value.change(from: count) { _ in }
      #expect(object != nil)
    }
    #expect(object == nil)
  }
}

private final class SharedCount: Sendable {
  let count = RareValue<Int>()
}
