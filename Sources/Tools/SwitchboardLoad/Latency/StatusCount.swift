/// The calls of a run that ended with one status.
package struct StatusCount: Sendable, Equatable {
  package var calls: UInt64 = 0
  /// What their messages said, the first one first. Of messages that differ in digits only, such as times, it has one.
  package private(set) var samples: [String] = []

  /// How many are kept, and how long each is at most, in characters of Unicode.
  private static let mostSamples = 8
  private static let longestSample = 300
  /// How much of two messages is compared. It is part of all samples that were cut.
  private static let comparedBytes = 200

  /// Keeps a message that says something else than the others.
  mutating func sample(_ message: String) {
    guard !message.isEmpty, samples.count < Self.mostSamples,
      !samples.contains(where: { Self.saySame($0, message) })
    else { return }
    let end = message.unicodeScalars.prefix(Self.longestSample).endIndex
    samples.append(String(message[..<end]))
  }

  private static func saySame(_ left: String, _ right: String) -> Bool {
    words(of: left).elementsEqual(words(of: right))
  }

  private static func words(of message: String) -> some Sequence<UInt8> {
    message.utf8.prefix(comparedBytes).lazy.filter { byte in
      !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) && byte != UInt8(ascii: ".")
    }
  }
}
