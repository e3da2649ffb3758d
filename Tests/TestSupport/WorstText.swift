import Glibc
import Testing

/// Text on which comparing, hashing, splitting or searching a `String` takes a time that is quadratic, or that a change of
/// the standard library could make so.
public enum WorstText: CaseIterable, Sendable {
  /// Marks of two classes in turns behind a letter: normalization sorts them by insertion.
  case marksInTurns
  /// Marks of many classes, the highest first.
  case descendingMarks
  /// Marks that are in no class themselves but decompose to marks of two.
  case decomposingMarks
  /// Regional indicators: whether two are a flag depends on all before them.
  case flags
  /// The jamo of Hangul, which compose.
  case hangul
  /// One character of many people.
  case emoji
  /// Characters that belong to the one after them.
  case prepended
  /// Letters with a mark each, which compose.
  case accents

  /// The text, of about this many bytes.
  public func text(_ bytes: Int) -> String {
    switch self {
    case .marksInTurns: "a" + repeated("\u{301}\u{316}", bytes)
    case .descendingMarks:
      "a"
        + ["\u{345}", "\u{35D}", "\u{301}", "\u{316}", "\u{302B}", "\u{302A}", "\u{5B0}", "\u{334}"]
        .map { repeated($0, bytes / 8) }.joined()
    case .decomposingMarks: "a" + repeated("\u{F73}\u{F71}", bytes)
    case .flags: repeated("\u{1F1E9}", bytes)
    case .hangul: repeated("\u{1100}\u{1161}\u{11A8}", bytes)
    case .emoji: repeated("\u{1F468}\u{200D}", bytes)
    case .prepended: repeated("\u{600}", bytes)
    case .accents: repeated("e\u{301}", bytes)
    }
  }

  private func repeated(_ part: String, _ bytes: Int) -> String {
    String(repeating: part, count: max(1, bytes / part.utf8.count))
  }
}

/// Measures how the time of work grows with its input: the processor's time for this thread, which programs beside this
/// one hardly change.
public enum Growth {
  /// The processor's time that `work` takes.
  public static func time(_ work: () throws -> Void) rethrows -> Duration {
    let start = now
    try work()
    return now - start
  }

  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Records an issue if input of four times the size takes more than eight times as long: linear work takes four times,
  /// quadratic work sixteen times. What takes less than a few milliseconds is not judged.
  public static func check<Input>(
    _ what: @autoclosure () -> String,
    size: Int = 16 << 10,
    _ input: (Int) throws -> Input,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (Input) throws -> Void
  ) rethrows {
    let (once, fourTimes) = (try input(size), try input(4 * size))
    // Initialization, such as of tables of names, happens here.
    try work(once)
    var (short, long) = (try time { try work(once) }, try time { try work(fourTimes) })
    for _ in 0..<4 where isTooLong(long, short) {
      short = min(short, try time { try work(once) })
      long = min(long, try time { try work(fourTimes) })
    }
    guard isTooLong(long, short) else { return }
    Issue.record("\(what()): \(short), and \(long) for four times as much", sourceLocation: sourceLocation)
  }

  private static func isTooLong(_ long: Duration, _ short: Duration) -> Bool {
    long > short * 8 + .milliseconds(8)
  }
}
