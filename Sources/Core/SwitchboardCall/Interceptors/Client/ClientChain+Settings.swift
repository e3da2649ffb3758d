// What interceptors change before the call is sent.
extension ClientChain {
  @usableFromInline
  func change(_ options: CallOptions, by index: Int) {
    reportLate(settings.change(options, transport.environment.time), index)
  }

  @usableFromInline
  func change(path: String, by index: Int) { reportLate(settings.change("path") { $0.path = path }, index) }

  @usableFromInline
  func change(host: String, by index: Int) { reportLate(settings.change("host") { $0.host = host }, index) }

  /// Logs that an interceptor has changed what the call was already made of.
  private func reportLate(_ names: [String], _ index: Int) {
    guard !names.isEmpty else { return }
    guard isHere else { return eventLoop.execute { self.reportLate(names, index) } }
    let all = interceptors.all
    let type = all.indices.contains(index) ? "\(Swift.type(of: all[index]))" : nil
    transport.remarks.report(late: names, of: method, by: type)
  }

  /// The types of the interceptors, for a call that one of them may hold: in words that follow others.
  var namesOfInterceptors: String {
    let names = interceptors.all.map { "\(Swift.type(of: $0))" }
    guard names.count > 1 else { return names.first.map { " (\($0))" } ?? "" }
    return " (one of \(names.joined(separator: ", ")))"
  }
}
