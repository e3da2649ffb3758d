import Testing

@testable import SwitchboardProtobuf

@Suite struct LengthsTests {
  @Test func keepsLengthsBeyondItsInlineRoom() {
    var lengths = Lengths()
    for length in 0..<100 { #expect(lengths.append(length) == length) }
    for place in stride(from: 0, to: 100, by: 7) { lengths.set(place, to: place + 1000) }
    #expect(lengths.count == 100)
    for place in 0..<100 { #expect(lengths[place] == UInt32(place % 7 == 0 ? place + 1000 : place)) }
  }
}
