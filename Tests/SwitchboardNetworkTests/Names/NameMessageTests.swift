import HTTP2TestSupport
import Testing

@testable import SwitchboardNetwork

/// What is let through to c-ares.
@Suite struct NameMessageTests {
  /// A query for `one.test`.
  private let query = DNSBytes(
    query: [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 111, 110, 101, 4, 116, 101, 115, 116, 0, 0, 1, 0, 1]
  )
  private let address: [UInt8] = [127, 0, 0, 1]

  private func isSound(_ records: [UInt8]...) -> Bool { NameMessage.isSound(query.answer(records)) }

  @Test func validAnswersAreAccepted() {
    #expect(isSound())
    #expect(isSound(DNSBytes.record(1, address)))
    #expect(
      isSound(DNSBytes.record(1, address, of: [1, 97, 0xc0, 12]), DNSBytes.record(5, [1, 98, 0xc0, 16]))
    )
    #expect(NameMessage.isSound(query.oneAddress + [1, 2, 3]))
    // One that was cut off says how many answers there were.
    var cutOff = query.cutOff
    cutOff[7] = 9
    #expect(NameMessage.isSound(cutOff))
  }

  @Test func truncatedAnswersAreRejected() {
    let answer = query.answer([DNSBytes.record(1, address), DNSBytes.record(5, [0xc0, 12])])
    for count in 0..<answer.count { #expect(!NameMessage.isSound(Array(answer.prefix(count)))) }
    #expect(NameMessage.isSound(answer))
  }

  @Test func answersAreLimited() {
    let records = Array(repeating: DNSBytes.record(1, address), count: 3000)
    var message = query.answer(records)
    NameMessage.limitAnswers(of: &message)
    #expect(message[6] == 8 && message[7] == 0)
    // c-ares does not see what is behind them.
    #expect(NameMessage.isSound(query.answer(Array(records.prefix(2048)) + [[0xff]])))
    #expect(!NameMessage.isSound(query.answer(Array(records.prefix(2047)) + [[0xff]])))
    var small = query.oneAddress
    NameMessage.limitAnswers(of: &small)
    #expect(small == query.oneAddress)
  }

  @Test func answersWithoutExactlyOneQuestionAreRejected() {
    var answer = query.oneAddress
    for count in [0, 2, 255] as [UInt8] {
      answer[5] = count
      #expect(!NameMessage.isSound(answer))
    }
  }

  @Test func namesAreLimited() {
    // At most 255 bytes, with the lengths of labels and the last zero.
    func name(_ last: Int) -> [UInt8] {
      let full: [UInt8] = [63] + [UInt8](repeating: 97, count: 63)
      return full + full + full + [UInt8(last)] + [UInt8](repeating: 97, count: last) + [0]
    }
    #expect(isSound(DNSBytes.record(1, address, of: name(61))))
    #expect(!isSound(DNSBytes.record(1, address, of: name(62))))
    #expect(isSound(DNSBytes.record(5, name(61))))
    #expect(!isSound(DNSBytes.record(5, name(62))))
    // Longer labels do not exist.
    #expect(!isSound(DNSBytes.record(1, address, of: [64] + [UInt8](repeating: 97, count: 64) + [0])))
    #expect(!isSound(DNSBytes.record(1, address, of: [0x80, 0])))
  }

  @Test func endlessNamePointersAreRejected() {
    let place = UInt8(query.answer([]).count)
    #expect(!isSound(DNSBytes.record(1, address, of: [0xc0, place])))
    #expect(!isSound(DNSBytes.record(1, address, of: [1, 97, 0xc0, place])))
    #expect(!isSound(DNSBytes.record(1, address, of: [0xff, 0xff])))
    // A chain of them, within the data of a record that is not read.
    func chain(_ count: Int) -> Bool {
      let start = Int(place) + 12
      let links: [[UInt8]] = (0..<count).map { [0xc0, UInt8(start + 2 * ($0 + 1))] } + [[0]]
      return isSound(
        DNSBytes.record(16, Array(links.joined())),
        DNSBytes.record(1, address, of: [0xc0, UInt8(start)])
      )
    }
    #expect(chain(49))
    #expect(!chain(50))
  }

  /// A name may not reach beyond its data.
  @Test func anAliasBeyondItsRecordIsRejected() {
    var answer = query.answer([DNSBytes.record(5, [1, 97, 0]), DNSBytes.record(1, address)])
    #expect(NameMessage.isSound(answer))
    let length = query.answer([]).count + 11
    answer[length] = 1
    #expect(!NameMessage.isSound(answer))
  }
}
