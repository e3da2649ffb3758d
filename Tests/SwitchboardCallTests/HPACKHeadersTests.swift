import SwitchboardCall
import Testing

@Suite struct HPACKHeadersTests {
  @Test func namesAreCaseInsensitive() {
    var headers: HPACKHeaders = ["User-Agent": "one"]
    headers.add(name: "user-agent", value: "two")
    #expect(headers["USER-AGENT"] == ["one", "two"])
    #expect(headers.first(name: "user-agent") == "one")
    #expect(headers.map(\.name) == ["user-agent", "user-agent"])
  }

  @Test func manyFieldsStayInOrder() {
    var headers = HPACKHeaders()
    for number in 0..<200 { headers.add(name: "n\(number)", value: String(repeating: "v", count: number)) }
    let copy = headers
    headers.replaceOrAdd(name: "n7", value: "new")
    #expect(copy.map(\.name) == (0..<200).map { "n\($0)" })
    #expect(copy.map(\.value.utf8.count) == Array(0..<200))
    #expect(headers.count == 200)
    #expect(headers.first(name: "n7") == "new")
    #expect(headers.first(name: "n199") == copy.first(name: "n199"))
  }

  @Test func addingAListToItselfDoublesIt() {
    var headers: HPACKHeaders = ["a": "1", "b": ""]
    headers.add(contentsOf: headers)
    #expect(headers == ["a": "1", "b": "", "a": "1", "b": ""])
  }

  @Test func fieldsAreEqualOnlyIfNameAndValueAre() {
    #expect(["ab": "c"] as HPACKHeaders != ["a": "bc"])
    #expect((["ab": "c"] as HPACKHeaders).hashValue == (["ab": "c"] as HPACKHeaders).hashValue)
  }

  @Test func replacingLeavesOneField() {
    var headers: HPACKHeaders = ["a": "1", "b": "2", "a": "3"]
    headers.replaceOrAdd(name: "A", value: "4")
    headers.add(name: "k-bin", binary: [1])
    headers.add(name: "K-bin", binary: [2])
    headers.replaceOrAdd(name: "K-bin", binary: [3])
    #expect(headers[binary: "k-bin"] == [[3]])
    headers.remove(name: "k-bin")
    #expect(headers == ["b": "2", "a": "4"])
  }

  @Test func copiesAreIndependent() {
    let first: HPACKHeaders = ["a": "1"]
    var second = first
    second.add(name: "b", value: "2")
    var third = HPACKHeaders()
    third.add(contentsOf: first)
    third.add(contentsOf: second)
    #expect(first == ["a": "1"])
    #expect(second == ["a": "1", "b": "2"])
    #expect(third == ["a": "1", "a": "1", "b": "2"])
  }

  @Test func listsGrowBeyondTheirFirstBlock() {
    let fields = (0..<100).map { ("name-\($0)", String(repeating: "v", count: $0 * $0 % 97)) }
    var headers = HPACKHeaders()
    var copies: [HPACKHeaders] = []
    for (name, value) in fields {
      copies.append(headers)
      headers.add(name: name, value: value)
    }
    headers.add(name: "long", value: String(repeating: "x", count: 100_000))
    for (index, copy) in copies.enumerated() {
      #expect(copy.map(\.name) == fields.prefix(index).map(\.0))
      #expect(copy.map(\.value) == fields.prefix(index).map(\.1))
    }
    #expect(headers.count == 101)
    #expect(headers.first(name: "name-99") == fields[99].1)
    #expect(headers.first(name: "LONG")?.utf8.count == 100_000)
  }

  @Test func equalListsHaveEqualHashes() {
    let headers: HPACKHeaders = ["a": "1", "b": ""]
    #expect(headers == ["A": "1", "b": ""])
    #expect(headers.hashValue == HPACKHeaders([("A", "1"), ("b", "")]).hashValue)
    #expect(headers != ["a": "1b", "": ""])
    #expect(headers != ["a": "1"])
  }

  @Test func metadataWithoutFieldsIsEmpty() {
    var headers: HPACKHeaders = ["a": "1", "A": "2"]
    headers.remove(name: "a")
    #expect(headers.isEmpty)
    #expect(headers == HPACKHeaders())
  }

  @Test func printsAsTheTutorialDoes() {
    #expect("\(HPACKHeaders())" == "[]")
    let headers: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
    #expect("\(headers)" == "[':status': '200', 'content-type': 'application/grpc']")
  }

  @Test(arguments: [[], [0], [0, 255], [1, 2, 3], Array(0...255)] as [[UInt8]])
  func binaryValuesRoundTrip(_ bytes: [UInt8]) {
    var headers = HPACKHeaders()
    headers.add(name: "trace-bin", binary: bytes)
    #expect(headers[binary: "trace-bin"] == [bytes])
    #expect(headers.first(name: "trace-bin")?.contains("=") == false)
  }

  @Test func paddedAndJoinedBinaryValuesAreDecoded() {
    let headers: HPACKHeaders = ["x-bin": "AQI=, Aw", "x-bin": "not base64!"]
    #expect(headers[binary: "x-bin"] == [[1, 2], [3]])
  }
}
