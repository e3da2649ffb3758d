extension Loop {
  /// Looks up names according to the system's configuration. It is shared by everything on the loop, and created when
  /// first needed.
  package var names: NameClient {
    if let client = nameLookups as? NameClient { return client }
    let client = NameClient(on: self)
    if !hasEnded { nameLookups = client }
    return client
  }
}
