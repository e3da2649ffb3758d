// Nothing: see LastInBuild.
