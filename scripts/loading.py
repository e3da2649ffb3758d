"""Loads other scripts of this folder as modules, since their names have no ending and may have dashes."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

# Their caches would lie among them.
sys.dont_write_bytecode = True
SCRIPTS = Path(__file__).resolve().parent


def script(name):
    """Another script of this folder, as a module."""
    loader = SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
