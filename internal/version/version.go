// Package version holds the version of the program, from the file VERSION beside it.
package version

import (
	_ "embed"
	"runtime/debug"
	"strings"
)

// file is the version of the next or the current release, such as 1.0.0-dev or 1.0.0. A build
// with plain `go build` embeds it too, because no flag of the build sets it.
//
//go:embed VERSION
var file string

// commit is the commit, with the suffix .dirty for changed files, if -ldflags sets it. Builds with
// make do so: the build information of the go command has no commit in a git work tree.
var commit string

// commitLength is the number of characters of a commit in a version.
const commitLength = 12

// dirtySuffix marks a build from files that differ from the commit.
const dirtySuffix = ".dirty"

// String returns the program's semantic version. A development version also has the commit as
// build metadata, and so has a release from changed files: 1.0.0-dev+0123456789ab.dirty.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return versionWithCommitUnlessCleanRelease(strings.TrimSpace(file), commit, info)
}

// versionWithCommitUnlessCleanRelease returns release alone if it is no -dev version and was built from
// unchanged files, or if no commit is known. Otherwise it adds the commit of the build. An empty commit
// is taken from info.
func versionWithCommitUnlessCleanRelease(release, commit string, info *debug.BuildInfo) string {
	if commit == "" && info != nil {
		commit = readCommit(info)
	}
	isDevelopment := strings.HasSuffix(release, "-dev")
	if commit == "" || !isDevelopment && !strings.HasSuffix(commit, dirtySuffix) {
		return release
	}
	return release + "+" + commit
}

// readCommit returns the first commitLength characters of the commit in the build information, or "" if
// that has none. It appends dirtySuffix for changed files.
func readCommit(info *debug.BuildInfo) (commit string) {
	suffix := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(commitLength, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			suffix = dirtySuffix
		}
	}
	if commit == "" {
		return ""
	}
	return commit + suffix
}
