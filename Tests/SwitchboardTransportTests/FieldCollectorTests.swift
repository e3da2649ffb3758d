import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct FieldCollectorTests {
  private let fields = FieldCollector()

  private func collect(_ list: HPACKHeaders) -> HPACKHeaders {
    fields.begin()
    append(list)
    return fields.take()
  }

  private func append(_ list: HPACKHeaders) {
    list.forEachField { fields.append(name: $0, value: $1) }
  }

  private let headers: HPACKHeaders = [":status": "200", "content-type": "application/grpc", "a": ""]
  private let trailers: HPACKHeaders = ["grpc-status": "0", "a": "12345678"]

  @Test func takesTheFieldsOfEachBlock() {
    let lists: [HPACKHeaders] = [
      headers, trailers, headers, trailers, [:], headers,
      // Fewer fields, more fields, other values of the same length, and another order.
      [":status": "200", "content-type": "application/grpc"],
      headers + [("b", "2")], headers,
      [":status": "200", "content-type": "application/grpx", "a": ""],
      ["grpc-status": "0", "a": "12345679"], ["grpc-status": "0", "a": "1234567890"],
      ["a": "", "content-type": "application/grpc", ":status": "200"],
      trailers, headers,
    ]
    for list in lists + lists { #expect(collect(list) == list) }
  }

  @Test func repeatedListsShareMemory() {
    let first = (collect(headers), collect(trailers))
    let second = (collect(headers), collect(trailers))
    #expect(first.0.sharesMemory(with: second.0))
    #expect(first.1.sharesMemory(with: second.1))
    #expect(!first.0.sharesMemory(with: second.1))
  }

  /// As the client adds a message to the trailers of a success.
  private func completed(_ list: HPACKHeaders) -> HPACKHeaders {
    fields.begin()
    append(list)
    fields.complete(with: "m", "OK")
    return fields.take()
  }

  @Test func completedListsShareMemory() {
    let first = completed(trailers)
    #expect(first == trailers + [("m", "OK")])
    #expect(completed(trailers).sharesMemory(with: first))
    #expect(collect(first).sharesMemory(with: first))
    #expect(completed(trailers).sharesMemory(with: first))
  }

  @Test func listsAreCompletedWhateverCameBefore() {
    let lists = [
      trailers, trailers + [("m", "NO")], trailers + [("m", "OK")], trailers + [("n", "OK")], headers, [:],
    ]
    for list in lists + lists {
      for before in lists {
        #expect(collect(before) == before)
        #expect(completed(list) == list + [("m", "OK")])
        #expect(completed(before) == before + [("m", "OK")])
        #expect(collect(list) == list)
      }
    }
  }

  @Test func onlyRepeatedListsAreNumbered() {
    var numbers: [Int?] = []
    for list in [
      headers, trailers, headers, trailers, [:], headers, headers + [("b", "2")], trailers, headers,
    ] {
      _ = collect(list)
      numbers.append(fields.repeated)
    }
    #expect(numbers[0] == nil && numbers[1] == nil && numbers[4] == nil && numbers[6] == nil)
    #expect(numbers[2] != nil && numbers[2] == numbers[5])
    #expect(numbers[3] != nil && numbers[3] != numbers[2])
    // Two lists are remembered. Those that came again after others have numbers that no other list had.
    #expect(numbers[7] == nil && numbers[8] == nil)
    _ = collect(headers)
    #expect(fields.repeated != nil && !numbers.contains(fields.repeated))
  }

  @Test func changingACopyDoesNotChangeASharedList() {
    var mine = collect(headers)
    let before = mine
    mine.add(name: "mine", value: "1")
    #expect(before == headers)
    #expect(collect(headers) == headers)
    #expect(mine == headers + [("mine", "1")])
  }

  @Test func beginningABlockDiscardsUntakenFields() {
    #expect(collect(headers) == headers)
    fields.begin()
    append(trailers)
    #expect(collect(headers) == headers)
    fields.begin()
    append([":status": "200"])
    #expect(collect([:]) == [:])
  }

  @Test func largeListsAreNotKept() {
    let large: HPACKHeaders = ["large": String(repeating: "v", count: 2000)]
    let (first, second) = (collect(large), collect(large))
    #expect(!first.sharesMemory(with: second))
    #expect(collect(large) == large)
  }

  @Test(arguments: 0..<20) func valuesOfEveryLengthAreCompared(length: Int) {
    for index in 0..<length {
      var bytes = [UInt8](repeating: UInt8(ascii: "v"), count: length)
      let one: HPACKHeaders = ["n": String(decoding: bytes, as: UTF8.self)]
      bytes[index] = UInt8(ascii: "w")
      let other: HPACKHeaders = ["n": String(decoding: bytes, as: UTF8.self)]
      #expect(collect(one) == one)
      #expect(collect(other) == other)
    }
  }
}

extension HPACKHeaders {
  /// Whether both have their bytes in the same memory.
  fileprivate func sharesMemory(with other: HPACKHeaders) -> Bool {
    withField(at: 0) { own, _ in other.withField(at: 0) { name, _ in own.baseAddress == name.baseAddress } }
  }
}

private func + (list: HPACKHeaders, more: [(String, String)]) -> HPACKHeaders {
  var sum = list
  for (name, value) in more { sum.add(name: name, value: value) }
  return sum
}
