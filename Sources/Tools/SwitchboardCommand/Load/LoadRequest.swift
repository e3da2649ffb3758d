import LoadMessages
import Switchboard
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardLoad
import SwitchboardProtobuf

/// The request of the user: a plan, and the server for it.
struct LoadRequest {
  let target: Target
  var plan: LoadTestPlan
  /// The method's path without a leading slash.
  let method: String
  let findMax: [LoadCondition]
  let failIf: [LoadCondition]

  init(_ arguments: Arguments) async throws {
    var target = try Target(arguments)
    findMax = try Self.conditions(arguments, LoadFlags.findMax)
    if let wrong = findMax.first(where: { !$0.isLimit }) {
      throw Failure.usage(
        "--find-max finds the highest rate at which its conditions hold, and '\(wrong.description)' holds above it: write '<'"
      )
    }
    failIf = try Self.conditions(arguments, LoadFlags.failIf)
    var plan = try Self.amount(arguments, findsMax: !findMax.isEmpty)
    let most = plan.callLimit > 0 ? plan.callLimit : nil
    if let vain = failIf.first(where: { !$0.canHold(ofCalls: most) }) {
      throw Failure.withoutEffect(LoadFlags.failIf, "'\(vain.description)' never holds")
    }
    plan.target = target.address
    plan.secure = target.usesTLS
    plan.serverName = arguments[TargetFlags.serverName] ?? ""
    plan.authority = arguments[TargetFlags.authority] ?? ""
    plan.userAgent = arguments[TargetFlags.userAgent] ?? ""
    plan.connectTimeoutSeconds = try Self.seconds(arguments, TargetFlags.connectTimeout) ?? 0
    plan.http1 = arguments.has(TargetFlags.http1)
    plan.protocol =
      switch target.options.wireProtocol {
      case .grpc: .grpc
      case .grpcWeb: .grpcWeb
      case .connect: .connect
      }
    plan.metadata = target.metadata.map { field in
      .with {
        $0.name = field.name
        $0.value = field.value
      }
    }
    plan.compression = try CallSettings.compression(arguments)?.rawValue ?? ""
    let config = try ServiceConfigArgument(arguments)
    target.options.serviceConfig = config?.parsed
    plan.serviceConfig = config?.json ?? ""
    self.target = target
    // Report invalid templates before the server is contacted.
    let texts = try Self.payloads(arguments)
    let (schema, method) = try await Self.find(arguments, target)
    config?.warn(calling: method, of: schema)
    self.method = method.path
    guard method.descriptor.clientStreaming || !arguments.has(LoadFlags.messages) else {
      throw Failure.withoutEffect(LoadFlags.messages, "a call of \(method.path) has one request")
    }
    plan.method = .with {
      $0.service = method.service
      $0.name = method.name
      $0.streamsRequests = method.descriptor.clientStreaming
      $0.streamsResponses = method.descriptor.serverStreaming
      $0.inputType = method.requestType
      guard let formats = schema.marks.formats(of: method.descriptor) else { return }
      $0.requestFormat = formats.requests ?? ""
      $0.responseFormat = formats.responses ?? ""
    }
    do {
      let templates = try Self.encode(texts, schema, into: &plan)
      guard templates.contains(where: \.isRandom) || !arguments.has(LoadFlags.seed) else {
        throw Failure.withoutEffect(LoadFlags.seed, "no request has {{uuid}} or {{random 1 10}}")
      }
      // The flags are valid, so an error here is in a request that was made from a template.
      _ = try plan.settings()
    } catch let failure as Failure {
      throw failure
    } catch {
      let source = try arguments.textOrFile(LoadFlags.data)
      let place = source?.place(LoadFlags.data) ?? LoadFlags.data.shortName
      var hints = (source?.hints(for: LoadFlags.data) ?? []) + FieldHint.hints(for: "\(error)", schema.pool)
      if case .text(let text)? = source {
        hints +=
          text.utf8.first { $0 > 0x20 } == UInt8(ascii: "[")
          ? [Self.fileOfSeveral] : JSONHint.hints(for: text.utf8)
      }
      throw Failure("\(place): \(error)", hints: hints, code: .data)
    }
    self.plan = plan
  }

  private static func find(_ arguments: Arguments, _ target: Target) async throws -> (Schema, SchemaMethod) {
    let channel = try target.channel()
    let source = try SchemaSource(arguments, target, channel)
    let found = try await CallVerb.find(arguments.operand(1) ?? "", in: source)
    await channel.shutDown(grace: .zero)
    return found
  }

  private static func conditions(_ arguments: Arguments, _ flag: Flag) throws -> [LoadCondition] {
    do {
      return try arguments.all(flag).flatMap { try LoadCondition.list($0) }
    } catch {
      throw Failure.usage("\(flag.name): \(error)")
    }
  }

  // MARK: How much

  private static func amount(_ arguments: Arguments, findsMax: Bool) throws -> LoadTestPlan {
    var plan = LoadTestPlan()
    func count(_ flag: Flag, _ range: ClosedRange<Int>, _ value: Int) throws -> UInt32 {
      UInt32(try arguments.integer(flag, in: range) ?? value)
    }
    let agents = min(LoadAgentList.addresses(arguments).count, LoadLimits.connections.upperBound)
    let isOpen = arguments.has(LoadFlags.rate) || findsMax
    plan.callLimit = UInt64(try arguments.integer(LoadFlags.calls, in: 1...(1 << 50)) ?? 0)
    let callers = plan.callLimit > 0 ? min(50, max(agents, Int(plan.callLimit))) : 50
    plan.concurrency = try count(LoadFlags.concurrency, LoadLimits.concurrency, isOpen ? 10_000 : callers)
    // Each agent has a connection, and each connection a caller.
    let connections = max(agents, min(2, Int(plan.concurrency)))
    plan.connections = try count(LoadFlags.connections, LoadLimits.connections, connections)
    plan.loops = try count(LoadFlags.loops, LoadLimits.loops, 1)
    try checkSizes(arguments, plan, isOpen: isOpen)
    plan.messagesPerCall = try count(LoadFlags.messages, LoadLimits.messagesPerCall, 1)
    plan.seed = UInt64(try arguments.integer(LoadFlags.seed, in: 0...Int.max) ?? 1)
    plan.timeoutSeconds = try seconds(arguments, LoadFlags.deadline) ?? 0
    let isCounted = plan.callLimit > 0
    plan.durationSeconds = try seconds(arguments, LoadFlags.duration) ?? (isCounted ? 0 : 10)
    plan.warmUpSeconds = try seconds(arguments, LoadFlags.warmUp) ?? (isCounted ? 0 : 1)
    if findsMax { plan.durationSeconds = try seconds(arguments, LoadFlags.step) ?? 5 }
    if let text = arguments[LoadFlags.rate] {
      let ramp = try seconds(arguments, LoadFlags.ramp)
      plan.rate = try rate(text, ramp: ramp ?? plan.durationSeconds)
      try check(rate: text, ramp, in: plan, findsMax: findsMax)
    }
    return plan
  }

  /// A rate that rises needs a time to do so. A search tries one rate after the other.
  private static func check(rate text: String, _ ramp: Double?, in plan: LoadTestPlan, findsMax: Bool)
    throws(Failure)
  {
    guard text.contains("..") else {
      guard ramp == nil else { throw .usage("--ramp needs --rate FROM..TO") }
      return
    }
    guard !findsMax else { throw .usage("--find-max takes one --rate, the first to try, not '\(text)'") }
    guard ramp != nil || plan.durationSeconds > 0 else {
      throw .usage("--rate \(text) with --calls needs --ramp or --duration: how long the rate rises")
    }
    if let ramp, plan.durationSeconds > 0, ramp > plan.warmUpSeconds + plan.durationSeconds {
      Output.warn("the rate does not get as far as \(text) says: --ramp is longer than the run")
    }
  }

  /// A loop without a connection, and a connection without a call, would have nothing to do.
  private static func checkSizes(_ arguments: Arguments, _ plan: LoadTestPlan, isOpen: Bool) throws(Failure) {
    try checkCalls(arguments, plan, isOpen: isOpen)
    if arguments.has(LoadFlags.connections), !isOpen, plan.connections > plan.concurrency {
      throw .usage(
        "--connections \(plan.connections) needs as many callers, and --concurrency is \(plan.concurrency)"
      )
    }
    let agents = UInt32(clamping: max(1, LoadAgentList.addresses(arguments).count))
    let needed = plan.loops.multipliedReportingOverflow(by: agents).partialValue
    guard plan.connections < needed, arguments.has(LoadFlags.loops) else { return }
    throw .usage("--loops \(plan.loops) needs --connections \(needed) or more: each loop has one of its own")
  }

  /// A caller, or a connection, for which no call is left would have nothing to do either.
  private static func checkCalls(_ arguments: Arguments, _ plan: LoadTestPlan, isOpen: Bool) throws(Failure) {
    guard plan.callLimit > 0 else { return }
    let amounts = [(LoadFlags.concurrency, plan.concurrency), (LoadFlags.connections, plan.connections)]
    for (flag, amount) in amounts where arguments.has(flag) && UInt64(amount) > plan.callLimit {
      let idle =
        isOpen && flag == LoadFlags.concurrency
        ? "so many are never in progress"
        : "some \(flag == LoadFlags.connections ? "connections" : "callers") would never make one"
      throw .usage(
        "\(flag.name) \(amount) is more than the calls, of which --calls allows \(plan.callLimit): \(idle)"
      )
    }
  }

  private static func seconds(_ arguments: Arguments, _ flag: Flag) throws -> Double? {
    // In a plan, zero for one of the others means no limit.
    let orZero = [LoadFlags.warmUp, LoadFlags.ramp].contains(flag)
    return try arguments.duration(flag, orZero: orZero, atMost: .day).map { $0 / .seconds(1) }
  }

  private static func rate(_ text: String, ramp: Double) throws -> LoadTestRate {
    let ends = text.split(separator: ".", omittingEmptySubsequences: false)
    // Split only at two consecutive points, because a rate may have a fraction.
    let parts: [Substring]
    if let gap = ends.firstIndex(where: { $0.isEmpty }), gap > 0, gap < ends.count - 1 {
      let from = ends[..<gap].joined(separator: ".")
      let to = ends[(gap + 1)...].joined(separator: ".")
      parts = [Substring(from), Substring(to)]
    } else {
      parts = [Substring(text)]
    }
    let numbers = parts.compactMap { Figure.number($0.hasSuffix("/s") ? $0.dropLast(2) : $0) }
    guard numbers.count == parts.count, let from = numbers.first, let to = numbers.last,
      RateSchedule.rates.contains(to)
    else { throw Failure.usage("--rate needs calls per second, such as 500 or 100..5000, not '\(text)'") }
    return .with {
      $0.from = from
      $0.to = to
      $0.rampSeconds = parts.count == 2 ? ramp : 0
    }
  }

  // MARK: Requests

  private static func payloads(_ arguments: Arguments) throws -> [String] {
    guard let source = try arguments.textOrFile(LoadFlags.data) else { return ["{}"] }
    if case .text(let text) = source {
      guard !hasSeveral(text) else {
        throw Failure(
          "\(LoadFlags.data.shortName) has several requests, and takes one",
          hints: [fileOfSeveral],
          code: .data
        )
      }
      return [text]
    }
    do {
      return try PayloadFile.payloads(in: String(decoding: try source.bytes(), as: UTF8.self))
    } catch let error as PayloadError {
      throw Failure("\(source.place(LoadFlags.data)): \(error)", code: .data)
    }
  }

  private static let fileOfSeveral: ShownText =
    "A file may have several, which are sent in turn: \(LoadFlags.data.shortName) @FILE."

  /// Whether a text has more than one object. An array may be one request.
  private static func hasSeveral(_ text: String) -> Bool {
    guard text.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
      let payloads = try? PayloadFile.payloads(in: text)
    else { return false }
    return payloads.count > 1
  }

  /// Payloads without placeholders are encoded here, once.
  private static func encode(
    _ texts: [String],
    _ schema: Schema,
    into plan: inout LoadTestPlan
  ) throws -> [PayloadTemplate] {
    let kind = try schema.kind(plan.method.inputType, plan.method.requestFormat)
    let templates = try texts.map { text throws(PayloadError) in try PayloadTemplate(text) }
    if templates.contains(where: { !$0.isConstant }) {
      plan.payloads = texts.map { text in .with { $0.template = text } }
      plan.descriptorSet = try Google_Protobuf_FileDescriptorSet.with { $0.file = schema.files }
        .serializedBytes()
      return templates
    }
    plan.payloads = try texts.map { text in
      let payload = try kind.payload(json: Array(text.utf8), schema.types)
      return try .with { $0.encoded = try payload.encoded() }
    }
    return templates
  }

  /// A description of the load, in words.
  var load: String {
    var parts: [String] = []
    if plan.hasRate {
      let rate = plan.rate
      parts.append(
        rate.rampSeconds > 0 ? "\(Figure.rate(rate.from)) to \(Figure.rate(rate.to))" : Figure.rate(rate.to)
      )
    } else {
      parts.append("\(plan.concurrency) callers")
    }
    parts.append("\(plan.connections) connections")
    if plan.durationSeconds > 0 { parts.append(Figure.time(plan.durationSeconds * 1e9)) }
    if plan.callLimit > 0 { parts.append("\(Figure.grouped(Double(plan.callLimit))) calls") }
    if plan.warmUpSeconds > 0 { parts.append("after a warm-up of \(Figure.time(plan.warmUpSeconds * 1e9))") }
    return parts.joined(separator: ", ")
  }
}
