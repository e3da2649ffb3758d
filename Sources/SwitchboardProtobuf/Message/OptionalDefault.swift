extension Optional {
  /// The value, or `fallback` where there is none; changing it sets the value.
  ///
  /// Accessors of fields with presence are written with it, so that a change within a nested
  /// message happens in place.
  @inlinable
  public subscript(or fallback: @autoclosure () -> Wrapped) -> Wrapped {
    get { self ?? fallback() }
    _modify {
      var value = self ?? fallback()
      self = nil  // so that `value` is the only holder of its storage while it changes
      defer { self = value }
      yield &value
    }
  }
}
