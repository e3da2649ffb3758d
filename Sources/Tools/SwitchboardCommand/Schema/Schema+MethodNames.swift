import SwitchboardDynamic

extension Schema {
  /// The names of all methods, by those of their services.
  var methodNames: [String: [String]] {
    Dictionary(services.map { ($0.fullName, $0.methods.map(\.name)) }) { first, _ in first }
  }
}
