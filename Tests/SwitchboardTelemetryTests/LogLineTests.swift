import CallTestSupport
import Foundation
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTelemetry
import SwitchboardTransport
import Testing

/// The lines that telemetry's logs write.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LogLineTests {
  /// A telemetry that has logged more than the pipe at `reader` holds.
  private func telemetry(_ time: ManualTime, _ log: Log) throws -> (
    Telemetry, any LogHandler, reader: FileHandle
  ) {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[1]) }
    let lines = LineLog(ends[1])
    let telemetry = try Telemetry.capturing(time: time) { if log == .ofOptions { $0.logger = Logger(lines) } }
    let handler: any LogHandler =
      log == .ofOptions ? lines : TelemetryLog(telemetry, format: .logfmt, descriptor: ends[1])
    for _ in 0..<100 { handler.log(.info, String(repeating: "x", count: 1000), [:]) }
    return (telemetry, handler, FileHandle(fileDescriptor: ends[0], closeOnDealloc: true))
  }

  enum Log: CaseIterable {
    case ofOptions, ofProgram
  }

  @Test(arguments: Log.allCases) func shutDownWaitsUntilLinesAreWritten(_ log: Log) async throws {
    let time = ManualTime()
    let (telemetry, handler, reader) = try telemetry(time, log)
    let end = Task { await telemetry.shutDown() }
    #expect(await time.nextWait() == .milliseconds(500))
    var text = Data()
    while text.count(where: { $0 == UInt8(ascii: "\n") }) < 100 { text += reader.availableData }
    await end.value
    withExtendedLifetime(handler) {}
  }

  @Test(arguments: Log.allCases) func shutDownGivesUpOnLinesThatNobodyReads(_ log: Log) async throws {
    let time = ManualTime()
    let (telemetry, handler, reader) = try telemetry(time, log)
    let end = Task { await telemetry.shutDown() }
    #expect(await time.nextWait() == .milliseconds(500))
    time.advance(by: .milliseconds(500))
    await end.value
    withExtendedLifetime((handler, reader)) {}
  }
}
