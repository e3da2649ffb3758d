import CallTestSupport
import Foundation
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LineLogTests {
  /// A file that is deleted after the test.
  private let path = NSTemporaryDirectory() + "switchboard-\(UUID().uuidString).log"

  private func lines(capacity: Int = 1 << 20, _ body: (LineLog) -> Void) async throws -> [String] {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { unlink(path) }
    let log = LineLog(file, label: "test", capacity: capacity)
    // It has a duplicate of the descriptor.
    close(file)
    body(log)
    await log.flush(within: .seconds(30))
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test func anEntryIsALine() async throws {
    let lines = try await lines { log in
      log.log(.warning, "something", ["b": "2", "a": "1"])
      Logger(log, minimumLevel: .error).log(.info, "not this")
      Logger(log).log(.info, "and another")
    }
    #expect(lines == ["test: warning: something a=1 b=2", "test: info: and another"])
  }

  @Test(arguments: [.min, -1, 0, 1, .max]) func entriesAreWrittenWhateverTheCapacity(_ capacity: Int)
    async throws
  {
    let lines = try await lines(capacity: capacity) { log in
      log.log(.error, String(repeating: "x", count: 1000), [:])
    }
    #expect(lines == ["test: error: " + String(repeating: "x", count: 1000)])
  }

  /// Text from peers can neither add lines to the log nor control the terminal that shows it.
  @Test func aPeersTextStaysOnOneLogLine() async throws {
    let lines = try await lines { log in
      log.log(.info, "closed", ["reason": "a\nerror: forged\u{1b}[2J\u{2028}ü\u{202e}txt"])
    }
    #expect(lines == [#"test: info: closed reason=a\nerror: forged\u{1B}[2J\u{2028}ü\u{202E}txt"#])
  }

  /// Dropped entries are counted, and the log reports them when its reader reads again.
  @Test func aStoppedReaderLosesEntriesButBlocksNothing() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let log = LineLog(ends[1], capacity: 4096)
    close(ends[1])
    let total = 5000
    for number in 0..<total { log.log(.info, "entry \(number)", [:]) }
    #expect(log.droppedCount > 0)
    let reader = ends[0]
    // Everything that was not written is reported, and the sum is complete.
    let accounted = await withCheckedContinuation { continuation in
      Thread {
        let handle = FileHandle(fileDescriptor: reader, closeOnDealloc: true)
        var text = ""
        while Self.accounted(in: text) < total, case let piece = handle.availableData, !piece.isEmpty {
          text += String(decoding: piece, as: UTF8.self)
        }
        continuation.resume(returning: Self.accounted(in: text))
      }.start()
    }
    #expect(accounted == total)
  }

  /// A reader that never comes delays nobody for longer than the limit.
  @Test func flushingEndsAtTheLimit() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = LineWriter(ends[1], capacity: 1 << 20)
    close(ends[1])
    // More than a pipe holds.
    for _ in 0..<500 { writer.write(String(repeating: "x", count: 1000)) }
    let time = ManualTime()
    let flush = Task { await writer.flush(within: .seconds(7), time) }
    #expect(await time.nextWait() == .seconds(7))
    time.advance(by: .seconds(7))
    await flush.value
    // What was not written is written later.
    let again = Task { await writer.flush(within: .seconds(7), time) }
    #expect(await time.nextWait() == .seconds(7))
    let handle = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let reader = Thread { while !handle.availableData.isEmpty {} }
    reader.start()
    await again.value
    #expect(writer.droppedCount == 0)
    writer.close()
  }

  /// A terminal that nobody reads blocks a write although it has some room. Only the first flush waits for it.
  @Test func aStoppedTerminalDelaysOneHastyFlush() async throws {
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // Linux's requests to unlock a terminal, and for its number.
    var (lock, number): (Int32, UInt32) = (0, 0)
    try #require(ioctl(terminal, 0x4004_5431, &lock) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
    let descriptor = open("/dev/pts/\(number)", O_WRONLY | O_NOCTTY | O_CLOEXEC)
    try #require(descriptor >= 0)
    let writer = LineWriter(descriptor, capacity: 1 << 20)
    close(descriptor)
    for _ in 0..<500 { writer.write(String(repeating: "x", count: 1000)) }
    let time = ManualTime()
    let flush = Task { await writer.flush(within: .seconds(7), time, unlessBlocked: true) }
    if await time.nextWait() == .seconds(7) { time.advance(by: .seconds(7)) }
    await flush.value
    await writer.flush(within: .seconds(7), ManualTime(), unlessBlocked: true)
    // The write of a terminal that is gone fails, which ends the thread.
    close(terminal)
    writer.close()
  }

  /// The number of entries in these lines; the last may be incomplete.
  private static func accounted(in text: String) -> Int {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .reduce(0) { $0 + ($1.contains("dropped") ? Int($1.prefix { $0.isNumber }) ?? 0 : 1) }
  }

  @Test(arguments: ["/dev/full", "no such descriptor"]) func unwrittenLinesAreCounted(_ path: String)
    async
  {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    let log = LineLog(descriptor)
    for count in 1...10 {
      log.log(.error, "lost", [:])
      // One at a time, so that the notice about earlier entries, which is not an entry, is lost as well.
      await log.flush(within: .seconds(30))
      #expect(log.droppedCount == count)
    }
    if descriptor >= 0 { close(descriptor) }
  }

  /// What Dispatch opens has the number of standard error if the process was started without one. It never has room.
  @Test func linesForADescriptorThatIsNoFileAreCounted() {
    let descriptor = inotify_init1(0)
    #expect(descriptor >= 0)
    let log = LineLog(descriptor)
    close(descriptor)
    log.log(.error, "lost", [:])
    #expect(log.droppedCount == 1)
  }
}
