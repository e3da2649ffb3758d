import Foundation
import PackagePlugin

extension Generation {
  /// What to generate for `target`; `nil` if it has no configuration.
  init?(of target: any SourceModuleTarget, output: URL, scratch: URL) throws {
    guard let own = try ProtoTarget(module: target.moduleName, directory: target.directoryURL) else {
      return nil
    }
    self.target = own
    self.output = output
    self.scratch = scratch
    dependencies = try target.recursiveTargetDependencies.compactMap { dependency in
      guard let module = dependency as? any SourceModuleTarget else { return nil }
      return try ProtoTarget(module: module.moduleName, directory: module.directoryURL)
    }
  }
}
