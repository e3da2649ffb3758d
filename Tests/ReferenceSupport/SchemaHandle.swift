import CReference

/// Owns a schema of the C library.
final class SchemaHandle: Sendable {
  // It does not change once linked, and libprotobuf locks its caches: threads may share it.
  private nonisolated(unsafe) let schema: OpaquePointer

  typealias Linker = (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<reference_result>?) -> OpaquePointer?

  init(linking descriptors: [UInt8], with link: Linker) throws(Reference.Failure) {
    var result = reference_result()
    defer { reference_result_free(&result) }
    // The C function copies what it keeps of the descriptors.
    let linked = descriptors.withUnsafeBufferPointer { link($0.baseAddress, $0.count, &result) }
    guard let linked else { throw Reference.Failure(copying: result) }
    schema = linked
  }

  deinit { reference_schema_free(schema) }

  func convert(
    _ type: String,
    from input: Reference.Format,
    _ bytes: [UInt8],
    to output: Reference.Format,
    options: Reference.Options
  ) throws(Reference.Failure) -> Reference.Conversion {
    var result = reference_result()
    defer { reference_result_free(&result) }
    var options = options.cOptions
    // The input is valid until the call returns; the output is copied before it is freed.
    bytes.withUnsafeBufferPointer { bytes in
      reference_convert(
        schema,
        type,
        input.cFormat,
        bytes.baseAddress,
        bytes.count,
        output.cFormat,
        &options,
        &result
      )
    }
    guard result.error == nil, let data = result.data else { throw Reference.Failure(copying: result) }
    let converted = Array(UnsafeBufferPointer(start: data, count: result.size))
    return Reference.Conversion(bytes: converted, isInitialized: result.is_initialized)
  }
}

extension Reference.Failure {
  fileprivate init(copying result: reference_result) {
    description = result.error.map { String(cString: $0) } ?? "out of memory"
  }
}

extension Reference.Format {
  fileprivate var cFormat: reference_format {
    switch self {
    case .binary: REFERENCE_BINARY
    case .json: REFERENCE_JSON
    case .text: REFERENCE_TEXT
    }
  }
}

extension Reference.Options {
  fileprivate var cOptions: reference_options {
    reference_options(
      ignore_unknown_fields: ignoreUnknownFields,
      print_default_values: printDefaultValues,
      preserve_field_names: preserveFieldNames,
      enums_as_integers: enumsAsIntegers,
      single_line: singleLine
    )
  }
}
