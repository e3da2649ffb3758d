import ReferenceSupport
import SwitchboardProtobuf
import TestMessages
import Testing

/// Random messages as JSON: each side reads the other's output and gets the same message.
@Suite struct JSONDifferentialTests {
  private let comparison: Comparison

  init() throws { comparison = try Comparison() }

  @Test(arguments: 0..<100)
  func agreesOnProto3(seed: Int) throws {
    try comparison.compareJSON(Switchboard_Testing_AllKinds3.self, seed: seed)
  }
}

extension Comparison {
  fileprivate func compareJSON<M: Message>(_ type: M.Type, seed: Int) throws {
    for bytes in messages(of: type, seed: seed, forJSON: true) {
      guard let ours = try? M(serializedBytes: bytes, partial: true) else { continue }
      // Converted to binary first, where libprotobuf decides which of two equal map keys wins.
      let settled = try convert(type, from: .binary, bytes, to: .binary)
      let theirs = try? convert(type, from: .binary, settled, to: .json)
      let json = try? ours.jsonUTF8Bytes()
      #expect((theirs != nil) == (json != nil), "whether \(bytes) has a form in JSON")
      guard let theirs, let json else { continue }
      // Compared as messages: digits, spaces and the order of maps may differ.
      let expected = try convert(type, from: .json, theirs, to: .binary)
      #expect(try convert(type, from: .json, json, to: .binary) == expected, "our JSON of \(bytes)")
      let read = try M(jsonUTF8Bytes: theirs)
      #expect(try deterministicBytes(of: read) == expected, "their JSON of \(bytes)")
    }
  }
}
