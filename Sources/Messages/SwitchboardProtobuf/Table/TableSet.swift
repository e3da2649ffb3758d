// unsafe: set once before it is shared

/// Tables that refer to each other. All are made at once and never changed, so that threads may share them.
package final class TableSet: @unchecked Sendable {
  // Set at the end of `init`, before any other code has a reference to the set.
  private(set) var tables: [TableData] = []

  private init() {}

  /// Makes the tables of `schemas`. Throws the index of the schema that is at fault.
  package convenience init(_ schemas: [TableSchema]) throws(TableSetError) {
    self.init()
    guard MessageObject.hasExpectedLayout else { throw TableSetError(index: 0, reason: .unknownLayout) }
    var layouts: [TableLayout] = []
    for (index, schema) in schemas.enumerated() {
      do throws(TableError) {
        layouts.append(try TableLayout(schema))
      } catch {
        throw TableSetError(index: index, reason: error)
      }
    }
    let needs = TableSet.messagesToInitialize(schemas)
    tables = zip(schemas, layouts).enumerated().map { index, made in
      let details = TableDetails(made.0, fields: made.1.fields)
      return TableData(made.1, details: details, needsInitialization: needs[index], set: self)
    }
    for (table, layout) in zip(tables, layouts) {
      table.setLinks(
        layout.fields.map { field in
          TableLink(message: field.message.map { tables[$0] }, enumeration: field.enumeration)
        }
      )
    }
  }

  deinit {
    for table in tables { table.deallocate() }
  }

  /// The tables, which keep the set.
  package var messages: [MessageTable] { tables.map(MessageTable.init) }

  /// Which messages have required fields or may contain such messages. Follows the references backwards, and visits
  /// each message once.
  private static func messagesToInitialize(_ schemas: [TableSchema]) -> [Bool] {
    var holders: [[Int]] = Array(repeating: [], count: schemas.count)
    var needs = schemas.map { $0.fields.contains { $0.presence == .required } }
    for (index, schema) in schemas.enumerated() {
      for field in schema.fields {
        if let message = field.message { holders[message].append(index) }
      }
    }
    var pending = needs.indices.filter { needs[$0] }
    while let next = pending.popLast() {
      for holder in holders[next] where !needs[holder] {
        needs[holder] = true
        pending.append(holder)
      }
    }
    return needs
  }
}

/// Why a set of tables cannot be made.
package struct TableSetError: Error {
  /// The index of the schema at fault.
  package let index: Int
  package let reason: TableError
}
