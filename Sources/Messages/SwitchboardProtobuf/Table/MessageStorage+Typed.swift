// unsafe: a generated message is a struct of its storage alone, so that both have the same memory

extension MessageStorage {
  /// The fields as a generated message, whose table is that of this storage.
  func message<M: Message>(as type: M.Type) -> M {
    // The struct of a generated message has no property other than its storage.
    unsafeBitCast(self, to: M.self)
  }
}

/// Calls `body` with a value that contains generated messages, such as an optional or an array, reinterpreted in place
/// as one of their storages.
func withStorages<Value, Storages, Failure: Error>(
  in value: inout Value,
  as type: Storages.Type,
  _ body: (inout Storages) throws(Failure) -> Void
) throws(Failure) {
  // The memory is the same: the struct of a generated message has no property other than its storage.
  try withUnsafeMutablePointer(to: &value) { address throws(Failure) in
    try body(&UnsafeMutableRawPointer(address).assumingMemoryBound(to: type).pointee)
  }
}
