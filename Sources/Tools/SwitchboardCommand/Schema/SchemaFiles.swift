import SwitchboardDescriptors
import SwitchboardGenerateArguments
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import SwitchboardToolSupport

/// Descriptors from files.
enum SchemaFiles {
  /// Compiles `.proto` files and their imports. Without `includes`, files and imports are searched for in the current
  /// directory and in the directories of `files` outside of it.
  static func compile(
    _ files: [String],
    includes: [String]
  ) throws(Failure) -> [Google_Protobuf_FileDescriptorProto] {
    for directory in includes where !IncludeDirectories.exists(directory) {
      Output.warn("\(directory): no such directory, but -I names it")
    }
    let folders = includes.isEmpty ? ["."] + files.compactMap(folderOutside) : includes
    let compiler = ProtoCompiler(includeDirectories: IncludeDirectories.all(user: folders))
    let compiled: CompiledProtos
    do {
      compiled = try compiler.compile(files)
    } catch {
      let lines = error.warnings + error.errors
      let isReadable = files.allSatisfy { IncludeDirectories.hasFile($0, in: folders) }
      throw Failure(
        lines.map { ShownText($0) }.joined(separator: "\n"),
        code: isReadable ? .data : .noInput
      )
    }
    for warning in compiled.warnings { Output.note("\(warning)") }
    do {
      return try Google_Protobuf_Compiler_CodeGeneratorRequest(serializedBytes: compiled.request).protoFile
    } catch {
      throw Failure("the compiler's output: \(error)", code: .data)
    }
  }

  /// The directory of a file that is outside of the current directory.
  private static func folderOutside(_ file: String) -> String? {
    guard file.hasPrefix("/") || file.hasPrefix("../"), let slash = file.lastIndex(of: "/") else {
      return nil
    }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  /// The files of a serialized `FileDescriptorSet`.
  static func descriptorSet(_ path: String) throws(Failure) -> [Google_Protobuf_FileDescriptorProto] {
    let bytes: [UInt8]
    do { bytes = try readFile(path) } catch { throw .unreadable(error) }
    do {
      let files = try Google_Protobuf_FileDescriptorSet(serializedBytes: bytes).file
      guard !files.isEmpty, files.allSatisfy({ !$0.name.isEmpty }) else {
        throw Failure("\(path): not a serialized FileDescriptorSet: it has no files", code: .data)
      }
      return files
    } catch let error as DecodeError {
      throw Failure("\(path): not a serialized FileDescriptorSet: \(error)", code: .data)
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure("\(path): \(error)", code: .data)
    }
  }
}
