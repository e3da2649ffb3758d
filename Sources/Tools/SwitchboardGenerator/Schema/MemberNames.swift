/// Assigns unique names to the fields and oneofs of a message.
struct MemberNames {
  private var items: [Item] = []
  private let reserved: Set<String>

  private struct Item {
    let base: String
    let suffix: String
    let hasCompanions: Bool
    var names: PropertyNames
    var repetitions = 0

    var taken: [String] {
      hasCompanions ? [names.property, names.has, names.clear] : [names.property]
    }
  }

  /// Assigns the names in `message`.
  static func assign(to message: inout MessageSchema) {
    var namer = MemberNames(reserved: message.isExtensible ? ["extensionFields"] : [])
    for field in message.fields {
      namer.add(field.namingBase, suffix: "_p\(field.number)", hasCompanions: field.hasCompanions)
    }
    // Oneofs without members were synthesized for optional fields.
    let oneofs = message.oneofs.indices.filter { !message.oneofs[$0].members.isEmpty }
    for index in oneofs {
      namer.add(message.oneofs[index].name, suffix: "_oneof\(index)", hasCompanions: false)
    }
    namer.separate()
    for index in message.fields.indices { message.fields[index].names = namer.items[index].names }
    for (position, index) in oneofs.enumerated() {
      message.oneofs[index].names = namer.items[message.fields.count + position].names
    }
  }

  private init(reserved: Set<String>) { self.reserved = reserved }

  private mutating func add(_ base: String, suffix: String, hasCompanions: Bool) {
    items.append(
      Item(base: base, suffix: suffix, hasCompanions: hasCompanions, names: PropertyNames(base: base))
    )
  }

  /// Appends unique suffixes to names that clash, until none does.
  private mutating func separate() {
    while true {
      let clashing = clashes()
      if clashing.isEmpty { return }
      for index in clashing {
        items[index].repetitions += 1
        let suffix = String(repeating: items[index].suffix, count: items[index].repetitions)
        items[index].names = PropertyNames(base: items[index].base, suffix: suffix)
      }
    }
  }

  private func clashes() -> [Int] {
    var users: [String: Int] = [:]
    for name in reserved { users[name] = 1 }
    for item in items {
      for name in item.taken { users[name, default: 0] += 1 }
    }
    return items.indices.filter { index in items[index].taken.contains { users[$0, default: 0] > 1 } }
  }
}
