// This module is empty: see LastInSwitchboardBuild.
