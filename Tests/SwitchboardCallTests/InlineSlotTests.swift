import Testing

@testable import SwitchboardCall

@Suite struct InlineSlotTests {
  /// Reports its release. It is a member of structures that fit into the slot, and of others that do not.
  private final class Witness {
    let tell: () -> Void

    init(_ tell: @escaping () -> Void) { self.tell = tell }

    deinit { tell() }
  }

  private struct Small {
    let witness: Witness
    var number = 7
  }

  private struct Large {
    let witness: Witness
    var numbers = (1, 2, 3, 4, 5)
  }

  @Test func storedValuesCanBeTaken() {
    var text = InlineSlot<String>()
    #expect(text.take() == nil)
    text.put("a text that is too long to lie within its two words")
    #expect(text.take() == "a text that is too long to lie within its two words")
    #expect(text.take() == nil)
    text.put("again")
    #expect(text.take() == "again")
  }

  @Test func aFullSlotKeepsItsFirstValue() {
    var number = InlineSlot<Int>()
    number.put(1)
    number.put(2)
    #expect(number.take() == 1)
  }

  @Test func largeAndStrictlyAlignedValuesAreStoredBehindAPointer() {
    #expect(InlineSlot<(Int, Int, Int, Int)>.fits)
    #expect(!InlineSlot<(Int, Int, Int, Int, Int)>.fits)
    #expect(!InlineSlot<SIMD4<Float>>.fits)
    var vector = InlineSlot<SIMD4<Float>>()
    vector.put([1, 2, 3, 4])
    #expect(vector.take() == [1, 2, 3, 4])
  }

  @Test func clearingTheSlotReleasesTheValue() {
    var gone = 0
    var small = InlineSlot<Small>()
    small.put(Small(witness: Witness { gone += 1 }))
    var large = InlineSlot<Large>()
    large.put(Large(witness: Witness { gone += 1 }))
    #expect(gone == 0)
    small.clear()
    large.clear()
    #expect(gone == 2)
    small.clear()
    #expect(small.take() == nil)
    #expect(gone == 2)
  }

  @Test func takingTheValueEmptiesTheSlot() {
    var gone = 0
    var large = InlineSlot<Large>()
    large.put(Large(witness: Witness { gone += 1 }))
    var taken = large.take()
    large.clear()
    #expect(gone == 0)
    #expect(taken?.numbers.4 == 5)
    taken = nil
    #expect(gone == 1)
  }
}
