import Switchboard
import SwitchboardBalancing
import SwitchboardDynamic
import SwitchboardText

/// The service config that `--service-config` gives to a call.
struct ServiceConfigArgument: Sendable {
  let json: String
  let parsed: ServiceConfig
  private let place: String
  /// What is wrong with it whatever is called.
  private let remarks: [String]

  /// Warns of what has no effect in it. Nil if there is no such flag.
  init?(_ arguments: Arguments) throws(Failure) {
    let flag = CallVerb.serviceConfig
    guard let source = try arguments.textOrFile(flag) else { return nil }
    place = source.place(flag)
    json = String(decoding: try source.bytes(), as: UTF8.self)
    do {
      parsed = try ServiceConfig(json: json)
      _ = try PolicyRegistry().choose(for: parsed)
    } catch {
      var failure = Failure("\(place): \(error.message ?? "\(error)")", code: .data)
      failure.hints = source.hints(for: flag)
      if case .file(let path) = source {
        failure.hints = ["'switchboard check-config \(path)' shows all that is wrong with it."]
      }
      throw failure
    }
    remarks = Self.mistakes(in: json)
    for remark in remarks { Output.warn("\(place): \(remark)") }
  }

  private static func mistakes(in json: String, for methods: [String: [String]]? = nil) -> [String] {
    ConfigRemark.all(in: json, for: methods).filter(\.isMistake).map(\.shown)
  }

  /// Warns if it names no method like the one that is called, because a name is misspelled.
  func warn(calling method: SchemaMethod, of schema: Schema) {
    let found = Self.mistakes(in: json, for: knownMethods(method, schema)).filter { !remarks.contains($0) }
    for remark in found { Output.warn("\(place): \(remark)") }
    guard found.isEmpty, !parsed.methodConfigs.isEmpty, !isFor(method) else { return }
    Output.warn("\(place): no methodConfig is for \(method.path), so that none has an effect")
  }

  private func isFor(_ method: SchemaMethod) -> Bool {
    parsed.methodConfig(for: MethodDescriptor(service: method.service, method: method.name, type: .unary))
      != nil
  }

  /// The methods that a config may name. It may be for other services too, which are taken to exist, except for one whose
  /// name is like that of the service that is called, if nothing else is for this.
  private func knownMethods(_ method: SchemaMethod, _ schema: Schema) -> [String: [String]] {
    var known = schema.methodNames
    let isFor = isFor(method)
    for name in parsed.methodConfigs.flatMap(\.names) where schema.service(named: name.service) == nil {
      guard isFor || NearNames(of: name.service, in: [method.service]).best == nil else { continue }
      known[name.service, default: []].append(name.method)
    }
    // Health may be asked for by any name.
    if let service = parsed.healthCheckedService { known[service, default: []] += [] }
    return known
  }
}
