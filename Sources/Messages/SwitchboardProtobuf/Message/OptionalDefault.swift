extension Optional {
  /// The value, or `fallback` if there is none; changing it sets the value.
  ///
  /// Accessors of fields with presence use it, so that a change within a nested message happens in place.
  @inlinable
  public subscript(or fallback: @autoclosure () -> Wrapped) -> Wrapped {
    get { self ?? fallback() }
    _modify {
      var value = self ?? fallback()
      self = nil  // so that `value` is uniquely referenced while it changes
      defer { self = value }
      yield &value
    }
  }
}
