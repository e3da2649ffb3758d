"""Loads scripts as modules, since their names have no ending and may have dashes."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

# Their caches would lie among them.
sys.dont_write_bytecode = True
SCRIPTS = Path(__file__).resolve().parent


def script(path):
    """The script at a path below scripts/, as a module."""
    loader = SourceFileLoader(path.replace("/", "_").replace("-", "_"), str(SCRIPTS / path))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
