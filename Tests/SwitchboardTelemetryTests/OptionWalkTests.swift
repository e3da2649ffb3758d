import CallTestSupport
import SwitchboardCall
import SwitchboardTelemetry
import Testing

/// Each number and each duration among the options of telemetry is tried at -1, 0, 1 and its maximum. It is refused with an
/// error that names it, or spans and metrics are exported.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OptionWalkTests {
  @Test func everyNumberHasARule() {
    #expect(OptionWalk.ruled(TelemetryOptions.self) == OptionWalk.numbers(in: TelemetryOptions()))
    #expect(OptionWalk.ruled(BatchOptions.self) == OptionWalk.numbers(in: BatchOptions()))
    #expect(OptionWalk.ruled(OTLPOptions.self) == OptionWalk.numbers(in: OTLPOptions()))
  }

  private func verify<Options>(
    _ sample: OptionSample<Options>,
    _ options: TelemetryOptions,
    exports count: Int = 1
  ) async throws {
    var options = options
    let exported = Locked(0)
    options.exporters.append(.spans { spans in exported.withLock { $0 += spans.count } })
    let telemetry: Telemetry
    do throws(GRPCStatus) {
      telemetry = try Telemetry(options)
    } catch {
      #expect(sample.isRefused(by: error), "\(error)")
      return
    }
    await telemetry.tracer.withSpan("work") { _ in }
    await telemetry.shutDown()
    #expect(exported.withLock { $0 } == count)
  }

  @Test(arguments: OptionWalk.samples(of: TelemetryOptions()))
  func anOptionIsRefusedOrWorks(_ sample: OptionSample<TelemetryOptions>) async throws {
    try await verify(sample, sample.options)
  }

  @Test(arguments: OptionWalk.samples(of: BatchOptions()))
  func aQueuesOptionIsRefusedOrWorks(_ sample: OptionSample<BatchOptions>) async throws {
    var options = TelemetryOptions()
    options.batch = sample.options
    // A queue of one byte has no room for a span.
    try await verify(sample, options, exports: sample.options.queueBytes == 1 ? 0 : 1)
    options.batch = BatchOptions()
    options.logBatch = sample.options
    try await verify(sample, options)
  }

  @Test(arguments: OptionWalk.samples(of: OTLPOptions()))
  func anExportersOptionIsRefusedOrHolds(_ sample: OptionSample<OTLPOptions>) async throws {
    var options = TelemetryOptions()
    options.exporters = [.otlp(sample.options)]
    do throws(GRPCStatus) {
      await (try Telemetry(options)).shutDown(within: .zero)
    } catch { #expect(sample.isRefused(by: error), "\(error)") }
  }
}
