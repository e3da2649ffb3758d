import LoadMessages
import Switchboard
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf

/// The limits of a plan, which may come from another process.
package enum LoadLimits {
  package static let connections = 1...1000
  package static let loops = 1...64
  package static let concurrency = 1...100_000
  package static let messagesPerCall = 1...1_000_000
  package static let payloads = 100_000
  /// A day, in seconds.
  package static let seconds = 0.0...86_400.0
}

extension LoadTestPlan: RuledOptions {
  package static let rules: [OptionRule<LoadTestPlan>] = [
    OptionRule(\.connections, "connections", range(LoadLimits.connections)),
    OptionRule(\.loops, "loops", range(LoadLimits.loops)),
    OptionRule(\.concurrency, "concurrency", range(LoadLimits.concurrency)),
    OptionRule(\.messagesPerCall, "messagesPerCall", range(LoadLimits.messagesPerCall)),
    OptionRule(\.warmUpSeconds, "warmUpSeconds", .within(LoadLimits.seconds)),
    OptionRule(\.durationSeconds, "durationSeconds", .within(LoadLimits.seconds)),
    OptionRule(\.timeoutSeconds, "timeoutSeconds", .within(LoadLimits.seconds)),
    OptionRule(\.connectTimeoutSeconds, "connectTimeoutSeconds", .within(LoadLimits.seconds)),
    OptionRule(\.callLimit, "callLimit", .any),
    OptionRule(\.seed, "seed", .any),
  ]

  private static func range(_ range: ClosedRange<Int>) -> OptionRange<UInt32> {
    .within(UInt32(range.lowerBound)...UInt32(range.upperBound))
  }
}

extension LoadTestRate: RuledOptions {
  package static let rules: [OptionRule<LoadTestRate>] = [
    OptionRule(\.from, "from", .within(0...RateSchedule.rates.upperBound)),
    OptionRule(\.to, "to", .within(RateSchedule.rates)),
    OptionRule(\.rampSeconds, "rampSeconds", .within(LoadLimits.seconds)),
  ]
}

extension LoadTestPlan {
  /// Validates the plan. The error names the invalid setting.
  package func settings() throws -> LoadRun.Settings {
    guard !method.service.isEmpty, !method.name.isEmpty else {
      throw PayloadError("the plan names no method")
    }
    try checkRules()
    if hasRate { try rate.checkRules() }
    guard payloads.count <= LoadLimits.payloads else { throw PayloadError("too many payloads") }
    var settings = LoadRun.Settings(
      pace: pace,
      extent: LoadExtent(
        warmUp: UInt64(warmUpSeconds * 1e9),
        duration: durationSeconds > 0 ? UInt64(durationSeconds * 1e9) : nil,
        calls: callLimit > 0 ? callLimit : nil
      ),
      connections: Int(connections),
      loops: Int(loops),
      method: MethodDescriptor(service: method.service, method: method.name, type: method.type),
      payloads: try source
    )
    settings.messagesPerCall = Int(messagesPerCall)
    settings.callOptions = try callOptions
    settings.formats = (ContentSubtype(method.requestFormat), ContentSubtype(method.responseFormat))
    return settings
  }

  private var pace: LoadPace {
    guard hasRate else { return .closed(callers: Int(concurrency)) }
    let schedule = RateSchedule(from: rate.from, to: rate.to, ramp: rate.rampSeconds)
    return .open(schedule, limit: Int(concurrency))
  }

  private var callOptions: CallOptions {
    get throws {
      var headers = HPACKHeaders()
      for field in metadata { headers.add(name: field.name, value: field.value) }
      var options = CallOptions(
        timeout: timeoutSeconds > 0 ? .nanoseconds(Int64(timeoutSeconds * 1e9)) : nil,
        initialMetadata: headers
      )
      if !compression.isEmpty {
        guard let method = MessageCompression(rawValue: compression) else {
          throw PayloadError("the plan asks for an unknown compression, '\(compression)'")
        }
        options.compression = method
      }
      return options
    }
  }

  private var source: PayloadSource {
    get throws {
      var templates: [String] = []
      var encoded: [[UInt8]] = []
      for payload in payloads {
        switch payload.payload {
        case .encoded(let bytes)?: encoded.append(bytes)
        case .template(let text)?: templates.append(text)
        case nil: encoded.append([])
        }
      }
      guard !templates.isEmpty else { return PayloadSource(encoded: encoded) }
      guard encoded.isEmpty else { throw PayloadError("payloads are all templates, or all encoded") }
      guard method.requestFormat.isEmpty else { return try foreignSource(templates) }
      let files = try Google_Protobuf_FileDescriptorSet(serializedBytes: descriptorSet)
      let pool = try DescriptorPool(files)
      guard let type = pool.messageType(named: method.inputType) else {
        throw PayloadError("the plan does not describe \(method.inputType)")
      }
      var options = JSONDecodingOptions()
      options.typeRegistry = pool.typeRegistry
      let (jsonOptions, seed) = (options, seed)
      return try PayloadSource(json: templates, seed: seed) { text in
        try DynamicMessage(type, jsonString: text, options: jsonOptions).serializedBytes()
      }
    }
  }

  /// Requests that are no messages of protobuf.
  private func foreignSource(_ templates: [String]) throws -> PayloadSource {
    let format = ContentSubtype(method.requestFormat)
    return try PayloadSource(json: templates, seed: seed) { text in
      try format.foreignPayload(json: Array(text.utf8))
    }
  }

  /// Throws if some of so many agents would have nothing to do, or more than its part.
  package func check(agents: Int) throws(PayloadError) {
    var amounts = [(UInt64(connections), "connections"), (UInt64(concurrency), "calls in progress")]
    if callLimit > 0 { amounts.append((callLimit, "calls")) }
    for (value, name) in amounts where value < agents {
      throw PayloadError("\(value) \(name) cannot be divided among \(agents) agents")
    }
  }

  /// The part of the plan for one of several agents, which add up to the plan.
  package func part(_ share: Int, of count: Int) -> LoadTestPlan {
    var part = self
    let agents = UInt32(clamping: max(1, count))
    func divided(_ whole: UInt64) -> UInt64 {
      whole / UInt64(agents) + (UInt64(share) < whole % UInt64(agents) ? 1 : 0)
    }
    part.concurrency = UInt32(clamping: divided(UInt64(concurrency)))
    part.connections = UInt32(clamping: divided(UInt64(connections)))
    part.callLimit = divided(callLimit)
    part.seed = seed &+ UInt64(share)
    if hasRate {
      part.rate.from = rate.from / Double(agents)
      part.rate.to = rate.to / Double(agents)
    }
    return part
  }

  private var wireProtocol: CallProtocol {
    get throws(PayloadError) {
      switch self.protocol {
      case .grpc: .grpc
      case .grpcWeb: .grpcWeb
      case .connect: .connect
      case .UNRECOGNIZED(let number): throw PayloadError("the plan asks for an unknown protocol, \(number)")
      }
    }
  }

  /// What calls are repeated by; nil if the plan has none.
  package var parsedServiceConfig: ServiceConfig? {
    get throws { serviceConfig.isEmpty ? nil : try ServiceConfig(json: serviceConfig) }
  }

  /// A channel to the plan's server.
  package func channel(on group: LoopGroup) throws -> Channel {
    var options = ChannelOptions()
    options.responseSizeLimit = 256 << 20
    // The report counts failures.
    options.logger = .quiet
    options.userAgentPrefix = userAgent.isEmpty ? "switchboard-load" : userAgent
    if !authority.isEmpty { options.authority = authority }
    if connectTimeoutSeconds > 0 {
      options.connectMinTimeout = .nanoseconds(Int64(connectTimeoutSeconds * 1e9))
    }
    options.wireProtocol = try wireProtocol
    options.serviceConfig = try parsedServiceConfig
    if http1 {
      guard options.wireProtocol != .grpc else {
        throw PayloadError("the plan asks for gRPC over HTTP/1.1, which does not exist")
      }
      options.httpVersion = .http1
    }
    options.security = .plaintext
    if secure {
      var tls = ClientTLS(serverNameOverride: serverName.isEmpty ? nil : serverName)
      if !roots.isEmpty { tls.trustRoots = .bytes(roots) }
      options.security = .tls(tls)
    }
    return try Channel(target: target, options: options, group: group)
  }
}

extension LoadTestMethod {
  package var type: GRPCCallType {
    switch (streamsRequests, streamsResponses) {
    case (false, false): .unary
    case (true, false): .clientStreaming
    case (false, true): .serverStreaming
    case (true, true): .bidirectionalStreaming
    }
  }
}
