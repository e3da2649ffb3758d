import SwitchboardPatterns
import SwitchboardText
import XDSMessages

/// Makes the patterns of the resources of one response: the same one of the same text, and no more than a client has time and memory
/// for.
final class PatternReader {
  /// How many different patterns there may be.
  static let countLimit = 1024
  /// How many steps their programs may have together: what compiling them takes, and keeping them.
  static let sizeLimit = 262_144
  /// How many steps they may have together if each counts as often as it is used: a call may be compared with all of them.
  static let useLimit = 524_288
  /// What one counts for that is refused because it is too large: it takes as long as the largest that is not.
  private static let sizeOfTooLarge = 8192

  private var known: [ExactText: Result<Pattern, PatternError>] = [:]
  private var size = 0
  private var useSize = 0

  func pattern(
    _ message: Envoy_Type_Matcher_V3_RegexMatcher,
    _ path: String
  ) throws(ResourceFault) -> Pattern {
    let text = message.regex
    if let known = known[text] { return try used(known, path) }
    guard known.count < Self.countLimit, size < Self.sizeLimit else {
      throw ResourceFault(
        "\(path).regex",
        "is one pattern too many: a response has at most \(Self.countLimit) different ones, with at most "
          + "\(Self.sizeLimit) steps together"
      )
    }
    let result = Result { () throws(PatternError) in try Pattern(text) }
    switch result {
    case .success(let pattern): size += pattern.size
    case .failure(let error): size += error.isTooLarge ? Self.sizeOfTooLarge : 0
    }
    known[text] = result
    return try used(result, path)
  }

  private func used(
    _ result: Result<Pattern, PatternError>,
    _ path: String
  ) throws(ResourceFault) -> Pattern {
    switch result {
    case .success(let pattern):
      useSize += pattern.size
      guard useSize <= Self.useLimit else {
        throw ResourceFault(
          "\(path).regex",
          "is used once too often: the patterns of a response have at most \(Self.useLimit) steps together, each as often as it is used"
        )
      }
      return pattern
    case .failure(let error):
      throw ResourceFault("\(path).regex", "is no pattern of RE2: \(error.reason.excerpt(300))")
    }
  }

  /// The rule for a text, and whether it is without regard to case.
  func rule(
    _ message: Envoy_Type_Matcher_V3_StringMatcher
  ) throws(ResourceFault) -> (text: TextRule, ignoresCase: Bool) {
    let ignoresCase = message.ignoreCase
    func bytes(_ text: String) -> [UInt8] { ignoresCase ? [UInt8](lowercased: text) : Array(text.utf8) }
    return switch message.matchPattern {
    case .exact(let text): (.exact(bytes(text)), ignoresCase)
    case .prefix(let text): (.prefix(bytes(text)), ignoresCase)
    case .suffix(let text): (.suffix(bytes(text)), ignoresCase)
    case .contains(let text): (.contains(bytes(text)), ignoresCase)
    case .safeRegex(let regex): (.pattern(try pattern(regex, "safe_regex")), false)
    case nil: throw ResourceFault("", "has none of the rules that are known")
    }
  }

  func substitution(
    _ message: Envoy_Type_Matcher_V3_RegexMatchAndSubstitute
  ) throws(ResourceFault) -> Substitution {
    guard message.hasPattern else { throw ResourceFault("pattern", "is missing") }
    let pattern = try pattern(message.pattern, "pattern")
    do throws(PatternError) {
      return try Substitution(of: pattern, by: message.substitution)
    } catch { throw ResourceFault("substitution", error.reason.excerpt(300)) }
  }
}
