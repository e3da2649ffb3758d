// unsafe: copies what a transport lends for one call, and lends what it holds for one call

extension HPACKHeaders: RandomAccessCollection {
  public var startIndex: Int { 0 }

  public var endIndex: Int { fieldCount }

  public subscript(position: Int) -> (name: String, value: String) {
    (name(at: position), value(at: position))
  }
}

extension HPACKHeaders: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements)
  }
}

extension HPACKHeaders: Hashable {
  public static func == (left: HPACKHeaders, right: HPACKHeaders) -> Bool {
    left.fieldCount == right.fieldCount
      && left.indices.allSatisfy { index in
        left.withField(at: index) { name, value in
          right.withField(at: index) { name.elementsEqual($0) && value.elementsEqual($1) }
        }
      }
  }

  public func hash(into hasher: inout Hasher) {
    for index in indices {
      withField(at: index) { name, value in
        hasher.combine(name.count)
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        hasher.combine(bytes: UnsafeRawBufferPointer(value))
      }
    }
  }
}

extension HPACKHeaders: CustomStringConvertible {
  /// `['name': 'value', ...]`, as the interceptor tutorial prints it.
  public var description: String {
    "[" + map { "'\($0.name)': '\($0.value)'" }.joined(separator: ", ") + "]"
  }
}
