import Switchboard
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardToolSupport

/// Makes one call of a method of any kind: sends requests as they are read, and writes responses as they arrive.
struct CallRunner: Sendable {
  let target: Target
  let channel: Channel
  let source: SchemaSource
  let schema: Schema
  let method: SchemaMethod
  let settings: CallSettings
  let clock: PhaseClock?
  let attempts: AttemptWatch?

  func run() async throws -> ExitCode {
    let cancel = Locked<(@Sendable () -> Void)?>(nil)
    // Before the call starts, an interrupt ends the process at once.
    let interrupts = await Interrupts {
      guard let cancel = cancel.withLock({ $0 }) else { Interrupts.endProcess() }
      cancel()
    }
    defer { interrupts.stop() }
    let dynamic = try schema.dynamicMethod(method)
    try refuseText(dynamic)
    let reader = try RequestReader(data, dynamic.requests.kind, settings.format, schema)
    // A single request is read and checked before the call starts.
    let single =
      method.descriptor.clientStreaming ? nil : try await onlyRequest(reader, dynamic.requests.kind)
    describeCall()
    let started = DynamicCall(of: dynamic, on: channel, options: settings.options, single: single)
    let call = started.call
    cancel.withLock { $0 = { call.cancel() } }
    // Sending may still wait for the user's input when the call has ended, so it runs in a task that is not awaited.
    let wrongRequest = Locked<Failure?>(nil)
    let sending = Task {
      await send(reader, on: started) { failure in wrongRequest.withLock { $0 = failure } }
    }
    let watching = clock.map { clock in Task { await watchMetadata(of: call, clock) } }
    var failure: (any Error)?
    var broken: GRPCStatus?
    do {
      try await write(started.responses)
    } catch let status as GRPCStatus {
      broken = status
    } catch {
      failure = error
      call.cancel()
    }
    sending.cancel()
    var status = await call.status
    // The status of the server is not about what it has sent before.
    if status.isOk, let broken { status = broken }
    await watching?.value
    if let clock { await describeEnd(of: call, status, clock) }
    // An error in a request explains more than the cancellation that it caused.
    if let failure { throw failure }
    if let failure = wrongRequest.withLock({ $0 }) { throw failure }
    if interrupts.isInterrupted { return .interrupted }
    guard !status.isOk else { return .success }
    throw await StatusReport(status, target, source, schema).failure
  }

  /// Writes the responses, of which there must be one unless the method streams them.
  private func write(_ responses: ResponseStream<DynamicPayload>) async throws {
    let writer = ResponseWriter(schema, source, settings)
    var isFirst = true
    for try await response in responses {
      guard isFirst || method.descriptor.serverStreaming else { throw target.failure(.tooManyMessages) }
      isFirst = false
      try await writer.write(response)
    }
    if isFirst, !method.descriptor.serverStreaming { throw target.failure(.missingResponse) }
  }

  // MARK: Requests

  /// Protobuf's text format is of protobuf messages only.
  private func refuseText(_ dynamic: DynamicMethod) throws(Failure) {
    guard settings.format == .text else { return }
    for (side, marshaller) in [("requests", dynamic.requests), ("responses", dynamic.responses)]
    where marshaller.kind.table == nil {
      throw Failure(
        "--format text is of protobuf, and the \(side) of \(method.path) are \(marshaller.contentSubtype.name ?? "not")",
        code: .usage
      )
    }
  }

  /// Without `-d`, a stream of requests is read from standard input.
  private var data: TextOrFile? {
    guard settings.data == nil, method.descriptor.clientStreaming else { return settings.data }
    if Terminal.current(.input).isTerminal {
      Output.note("Type requests in \(settings.format == .json ? "JSON" : "text"); Ctrl-D ends them.")
    }
    return .input
  }

  private func onlyRequest(_ reader: RequestReader, _ kind: PayloadKind) async throws -> DynamicPayload {
    guard let request = try await reader.next() else {
      guard let place = settings.data?.fileName else {
        if settings.data == nil { noteUnreadInput() }
        return kind.empty
      }
      throw Failure(
        "\(place) has no request",
        hints: ["Without -d, the request is empty."],
        code: .data
      )
    }
    guard try await reader.next() == nil else {
      throw Failure("\(method.path) takes one request, but there are more", code: .data)
    }
    return request
  }

  /// A pipe is not read without being asked for: what starts the command may need its own standard input, as a loop of a
  /// shell does.
  private func noteUnreadInput() {
    guard Descriptor.standardInput.hasUnreadBytes, !Terminal.current(.input).isTerminal else { return }
    let flag = "\(CallVerb.data.shortName) @-"
    Output.warn("the request is empty: standard input has text, which only '\(flag)' reads")
  }

  private func send(
    _ reader: RequestReader,
    on started: DynamicCall,
    refused: @Sendable (Failure) -> Void
  ) async {
    guard let requests = started.requests else { return }
    do {
      while let request = try await reader.next() { try await requests.send(request) }
      requests.finish()
    } catch let failure as Failure {
      refused(failure)
      started.call.cancel()
    } catch {
      // The call has ended. Its status says why.
    }
  }

  // MARK: Verbose

  private func describeCall() {
    guard clock != nil else { return }
    Output.note("> \(method.path) on \(target.text) (\(target.usesTLS ? "TLS" : "plaintext"))")
    for (name, value) in settings.options.initialMetadata.shown { Output.note("> \(name): \(value)") }
  }

  /// Headers of the protocol itself. They are not metadata, and the status line shows what matters of them.
  private static let framing: Set = [
    ":status", "content-type", "grpc-status", "grpc-message", "grpc-status-details-bin",
  ]

  private func watchMetadata(of call: any AsyncCall, _ clock: PhaseClock) async {
    guard let metadata = try? await call.initialMetadata else { return }
    clock.note("first byte", "the server's metadata")
    for (name, value) in metadata.shown where !Self.framing.contains(name) {
      Output.note("< \(name): \(value)")
    }
  }

  private func describeEnd(of call: any AsyncCall, _ status: GRPCStatus, _ clock: PhaseClock) async {
    clock.note("last byte", status.code.specName)
    let trailers = (try? await call.trailingMetadata) ?? HPACKHeaders()
    for (name, value) in trailers.shown where !Self.framing.contains(name) {
      Output.note("< \(name): \(value) (trailer)")
    }
    let count = attempts?.count ?? 0
    let after: ShownText = count > 1 ? " (after \(count) attempts)" : ""
    Output.note("< \(status.isOk ? "OK" : Failure(status).message)\(after)")
    for line in clock.lines { Output.note(line) }
  }
}
