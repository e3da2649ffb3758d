import CallTestSupport
import SwitchboardCall
import Testing

/// Levels of loggers that change while they are used.
@Suite struct LoggerLevelTests {
  private let entries = LogEntries()

  @Test func copiesOfALoggerShareItsLevel() {
    let logger = Logger(entries, minimumLevel: .warning)
    let copy = logger.adding(["peer": "one"])
    copy.log(.debug, "before")
    logger.setLevel(.debug)
    copy.log(.debug, "after")
    #expect(copy.logs(.debug) && !copy.logs(.trace) && copy.minimumLevel == .debug)
    logger.setLevel(.error)
    copy.log(.warning, "too late")
    #expect(entries.all.map(\.message) == ["after"])
    #expect(entries.all.first?.metadata == ["peer": "one"])
  }

  @Test func aLoggerWithItsOwnLevelLeavesOthersAsTheyAre() {
    let logger = Logger(entries, minimumLevel: .info).adding(["a": "b"])
    let own = logger.withOwnLevel
    own.setLevel(.trace)
    #expect(logger.minimumLevel == .info && own.minimumLevel == .trace)
    own.log(.trace, "own")
    logger.log(.trace, "other")
    #expect(entries.all.map(\.message) == ["own"])
    #expect(entries.all.first?.metadata == ["a": "b"])
  }

  @Test(arguments: LogLevel.allCases) func eachLevelLetsPassWhatIsAsImportant(_ level: LogLevel) {
    let logger = Logger(entries, minimumLevel: .error)
    logger.setLevel(level)
    for each in LogLevel.allCases { logger.log(each, "\(each)") }
    #expect(entries.all.map(\.level) == LogLevel.allCases.filter { $0 >= level })
    #expect(logger.minimumLevel == level)
  }

  @Test func aQuietLoggerStaysQuiet() {
    let quiet = Logger.quiet.withOwnLevel
    quiet.setLevel(.trace)
    #expect(!quiet.logs(.error))
  }
}
