/// Options of types that this module does not know: at most one value of each type.
package struct OptionExtensions: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  package subscript<Value: Sendable>(_: Value.Type) -> Value? {
    get { values[ObjectIdentifier(Value.self)] as? Value }
    set { values[ObjectIdentifier(Value.self)] = newValue }
  }
}
