package version

import (
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// semantic is the form of a semantic version, without leading zeros in numbers.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

func TestDescribe(t *testing.T) {
	const revision = "985c31c3bb0c2f6a1f1e51e9d9e4c5f6a7b8c9d0"
	built := func(modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}}
	}
	for _, row := range []struct {
		name, release, commit string
		info                  *debug.BuildInfo
		want                  string
	}{
		{"a development build from a clean tree", "1.0.0-dev", "", built("false"), "1.0.0-dev+985c31c3bb0c"},
		{"a development build from changed files", "1.0.0-dev", "", built("true"), "1.0.0-dev+985c31c3bb0c.dirty"},
		{"a development build of a source archive", "1.0.0-dev", "", &debug.BuildInfo{}, "1.0.0-dev"},
		{"a build without any information", "1.0.0-dev", "", nil, "1.0.0-dev"},
		{"a build with the commit as a flag", "1.0.0-dev", "985c31c", built("true"), "1.0.0-dev+985c31c"},
		{"a build from changed files, as a flag", "1.0.0-dev", "985c31c.dirty", nil, "1.0.0-dev+985c31c.dirty"},
		{"information without a commit", "1.0.0-dev", "", &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}}, "1.0.0-dev"},
		{"a release", "1.2.3", "", built("false"), "1.2.3"},
		{"a release from changed files", "1.2.3", "", built("true"), "1.2.3+985c31c3bb0c.dirty"},
		{"a release candidate", "1.2.3-rc.1", "", built("false"), "1.2.3-rc.1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := versionWithCommitUnlessCleanRelease(row.release, row.commit, row.info); got != row.want || !semantic.MatchString(got) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestFileIsSemantic: the file has a semantic version without build metadata.
func TestFileIsSemantic(t *testing.T) {
	if release := strings.TrimSpace(file); !semantic.MatchString(release) || strings.Contains(release, "+") || !strings.HasPrefix(String(), release) {
		t.Errorf("the file has %q, the program %q", release, String())
	}
}
