import SwitchboardText

/// A name of a virtual host: as it is, or with one `*` at the beginning or the end, or `*` alone. Case does not count.
struct DomainPattern: Hashable, Sendable {
  /// What a pattern is, the most specific first.
  enum Kind: Int, Comparable {
    case exact, suffix, prefix, all
    static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
  }

  let kind: Kind
  /// What is not the `*`, in lower case.
  private let text: [UInt8]

  /// `nil` for a text that is no pattern.
  init?(_ pattern: String) {
    var bytes = [UInt8](lowercased: pattern)
    let star = UInt8(ascii: "*")
    if bytes == [star] {
      kind = .all
      bytes = []
    } else if bytes.first == star {
      kind = .suffix
      bytes.removeFirst()
    } else if bytes.last == star {
      kind = .prefix
      bytes.removeLast()
    } else {
      kind = .exact
    }
    guard !bytes.contains(star), kind == .all || !bytes.isEmpty else { return nil }
    text = bytes
  }

  /// A longer one is more specific than another of the same kind.
  var length: Int { text.count }

  /// `name` is in lower case.
  func matches(_ name: [UInt8]) -> Bool {
    switch kind {
    case .exact: name == text
    // The star stands for at least one byte.
    case .suffix: name.count > text.count && name.suffix(text.count).elementsEqual(text)
    case .prefix: name.count > text.count && name.starts(with: text)
    case .all: true
    }
  }
}
